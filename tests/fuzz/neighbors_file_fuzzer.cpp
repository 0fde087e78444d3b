// Feeds arbitrary bytes to the reader of result files; what it returns must be safe to walk through.
#include "fuzz_reader.hpp"
#include "io/results/neighbors_read.hpp"

#include <variant>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return kith::fuzz::feed(data, size, "fuzz.npz", [](const kith::runtime::InputFile& file) {
    const auto result = kith::io::read_neighbors(file);
    if (const auto* fixed = std::get_if<kith::Neighbors>(&result)) {
      for (std::uint64_t q = 0; fixed->k() > 0 && q < fixed->queries(); ++q) {
        for (std::uint32_t j = 0; j < fixed->k(); ++j) {
          if (fixed->index(q, j) > fixed->missing() || !(fixed->distance(q, j) >= 0)) std::abort();
        }
      }
    } else {
      const auto& lists = std::get<kith::NeighborLists>(result);
      for (std::uint64_t q = 0; q < lists.queries(); ++q) {
        for (std::uint64_t j = 0; j < lists.count(q); ++j) {
          if (lists.index(q, j) >= lists.points() || !(lists.distance(q, j) >= 0)) std::abort();
        }
      }
    }
  });
}
