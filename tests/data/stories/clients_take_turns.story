# One client's prompts wait in a row; that of another client is read beside the first of them, not after the last.
rows   64
beside 64
arrive A prompt 100 client 1
arrive B prompt 100 client 1
step   A[0..64)
arrive C prompt 20 client 2
step   A[64..100) C[0..20) B[0..8)
step   A+1 C+1 B[8..70)
