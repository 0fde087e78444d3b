// Emulated kernels need no CUDA: whoever includes its headers is told here, not on a machine that has none.
#error "a source of emulated kernels includes a header of CUDA"
