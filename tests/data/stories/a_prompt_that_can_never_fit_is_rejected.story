rows   512
pages  4
arrive A prompt 64
arrive B prompt 63
step   B[0..63) !A
