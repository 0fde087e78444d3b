// The SIMD instruction set that the kernels of the CPU use: the best that this machine has, or the one that the
// environment variable KITH_SIMD names. The answers are the same; to compare speeds, and for tests.
#pragma once

#include <string>
#include <vector>

namespace kith::cpu {

/// Makes every kernel of this process use what KITH_SIMD asks for: "scalar", "sse2", "avx2", "avx512", "neon", or
/// "auto", the default. Call it before the first kernel runs. Throws UsageError if the variable names a set that this
/// build or this machine does not have.
void choose_instruction_set();

/// The set in use.
std::string instruction_set();

/// All sets that are compiled in and that this machine has, best first.
std::vector<std::string> instruction_sets();

}  // namespace kith::cpu
