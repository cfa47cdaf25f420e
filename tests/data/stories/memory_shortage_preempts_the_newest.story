# Two sequences of 31 tokens fill 4 pages. When both need a fifth, the newer one gives up its pages, and is read
# again from the start when there is room: its prompt and what it had answered.
rows   512
pages  4
arrive A prompt 31
arrive B prompt 30
step   A[0..31) B[0..30)
step   A+1 B+1
step   A+1 -B
step   A+1
finish A
step   B[0..32)
step   B+1
