# More answers than rows cannot happen with sane limits, but must not overflow the step either.
rows   2
arrive A prompt 1
arrive B prompt 1
arrive C prompt 1
step   A[0..1) B[0..1)
step   A+1 B+1
finish A
step   B+1 C[0..1)
