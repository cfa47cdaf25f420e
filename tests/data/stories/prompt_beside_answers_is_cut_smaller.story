# While somebody's answer grows, a prompt takes at most `beside` rows of a step, so that the answer does not stall.
rows   512
beside 64
arrive A prompt 10
step   A[0..10)
arrive B prompt 200
step   A+1 B[0..64)
step   A+1 B[64..128)
step   A+1 B[128..192)
step   A+1 B[192..200)
step   A+1 B+1
finish A
finish B
step   nothing
