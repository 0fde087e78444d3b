// Which GPUs can run code that was compiled for some architectures.
#pragma once

#include <charconv>
#include <string_view>
#include <system_error>

namespace kith::cuda {

/// Whether code for `architectures`, named as CMake's CUDA_ARCHITECTURES and separated by commas, runs on a GPU of this
/// compute capability (75, 90, 120). Machine code runs on the same generation from its own version on, PTX on all from
/// its own on; what is made for one architecture and its features ("90a") runs there alone. A word that is no
/// architecture ("native") may stand for any.
inline bool has_code_for(std::string_view architectures, int capability) {
  while (!architectures.empty()) {
    const std::string_view word = architectures.substr(0, architectures.find(','));
    architectures.remove_prefix(word.size() < architectures.size() ? word.size() + 1 : word.size());
    int made_for = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), made_for);
    if (error != std::errc{}) return true;
    const std::string_view suffix(end, static_cast<std::size_t>(word.data() + word.size() - end));
    if (made_for == capability) return true;
    if (!suffix.empty() && suffix.front() != '-') continue;
    const bool is_code = suffix != "-virtual", is_ptx = suffix != "-real";
    if (is_code && made_for / 10 == capability / 10 && made_for <= capability) return true;
    if (is_ptx && made_for <= capability) return true;
  }
  return false;
}

}  // namespace kith::cuda
