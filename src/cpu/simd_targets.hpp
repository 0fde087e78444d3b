// Which instruction sets Highway compiles for, whatever its version. To be included before anything of Highway.
#pragma once

// Kept: the baseline of each architecture, and what is faster for kith: AVX2 and AVX-512 on x86-64. Sets between them
// have no fused multiply-add, so the baseline serves as well; later ones add nothing that is used here; vectors of
// unknown length (SVE) cannot be kept in arrays. Names that this version of Highway does not have count as 0, here as
// in its own #if.
#define KITH_KEPT_TARGETS                                     \
  (HWY_SCALAR | HWY_EMU128 | HWY_SSE2 | HWY_AVX2 | HWY_AVX3 | \
   (HWY_NEON_WITHOUT_AES != 0 ? HWY_NEON_WITHOUT_AES : HWY_NEON))
#define HWY_DISABLED_TARGETS (~KITH_KEPT_TARGETS)

#include <hwy/detect_targets.h>

#ifndef HWY_SSE2  // Highway 1.0.3: its baseline on x86-64 is the scalar target
#define HWY_SSE2 0LL
#endif
#ifndef HWY_NEON_WITHOUT_AES  // Highway 1.0.3: HWY_NEON is the baseline
#define HWY_NEON_WITHOUT_AES 0LL
#endif
