// Emulated kernels need no CUDA: a source that includes its headers fails here, not on a machine that has none.
#error "a source of emulated kernels includes a header of CUDA"
