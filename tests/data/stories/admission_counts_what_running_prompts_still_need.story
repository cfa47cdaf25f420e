# A's prompt fills two pages, and its answer will need a third: that page is spoken for, so B waits although its two
# pages are free when A has been read.
rows   64
pages  4
arrive A prompt 32
arrive B prompt 20
step   A[0..32)
step   A+1
finish A
step   B[0..20)
