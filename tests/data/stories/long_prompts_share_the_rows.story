# Two clients with long prompts: each gets half of the rows, whoever came first.
rows   64
arrive A prompt 100 client 1
arrive B prompt 60 client 2
step   A[0..32) B[0..32)
step   A[32..68) B[32..60)
step   B+1 A[68..100)
