// Marks loops whose arrays a GPU is to keep in registers.
#pragma once

#if defined(__CUDA_ARCH__)
#define KITH_UNROLL _Pragma("unroll")
#else
#define KITH_UNROLL
#endif
