# A drafted token is one more row. Where a draft would need a page that is not there, the sequence goes on without.
rows   512
pages  3
arrive A prompt 10 draft 4
arrive B prompt 14
step   A[0..10) B[0..14)
step   A+5 B+1
step   A+5 B+1
finish B
step   A+5
