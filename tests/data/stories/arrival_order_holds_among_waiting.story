# The first that does not fit holds back those behind it, even when they would fit: nobody overtakes.
rows   512
pages  8
arrive A prompt 60
arrive B prompt 100
arrive C prompt 10
step   A[0..60)
step   A+1
finish A
step   B[0..100) C[0..10)
