rows      512
sequences 2
arrive A prompt 5
arrive B prompt 5
arrive C prompt 5
step   A[0..5) B[0..5)
step   A+1 B+1
finish A
step   B+1 C[0..5)
