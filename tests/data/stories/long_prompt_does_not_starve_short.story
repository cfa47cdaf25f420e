# A prompt is read in chunks; the next one begins in the step where the first ends.
rows   256
arrive A prompt 300
arrive B prompt 20
step   A[0..256)
step   A[256..300) B[0..20)
step   A+1 B+1
