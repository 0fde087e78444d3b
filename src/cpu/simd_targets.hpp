// Which instruction sets Highway compiles for. To be included before anything of Highway.
#pragma once

// Left out: sets without a fused multiply-add (the portable fallback serves them), one that adds nothing here, and
// vectors of unknown length, which cannot be kept in arrays.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
