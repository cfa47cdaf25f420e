# The chat in front of its user is read before older prompts of the same client.
rows   64
sequences 2
arrive A prompt 100
arrive B prompt 100
step   A[0..64)
arrive C prompt 40 interactive
step   C[0..40) A[64..88)
