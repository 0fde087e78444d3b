// Marks functions that run on the host and on a GPU.
#pragma once

#if defined(__CUDACC__)
#define KITH_HOST_DEVICE __host__ __device__
#else
#define KITH_HOST_DEVICE
#endif
