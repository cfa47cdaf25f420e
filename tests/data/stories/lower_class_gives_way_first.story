# The background job is older, but the interactive chat keeps its pages.
rows   512
pages  4
arrive A prompt 31 background
arrive B prompt 31 interactive
step   A[0..31) B[0..31)
step   A+1 B+1
step   B+1 -A
