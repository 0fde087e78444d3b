// Finds codes that differ in few bits: near-duplicates by fingerprint.
#include <kith/kith.hpp>

#include <cstdint>
#include <cstdio>
#include <vector>

int main() {
  // 1000 codes of 64 bits, made by a small generator; code 900 is code 17 with two bits flipped.
  std::vector<std::uint8_t> codes(1000 * 8);
  std::uint32_t state = 1;
  for (std::uint8_t& byte : codes) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<std::uint8_t>(state >> 24);
  }
  for (int byte = 0; byte < 8; ++byte) codes[900 * 8 + byte] = codes[17 * 8 + byte];
  codes[900 * 8] ^= 0x80;      // bit 0
  codes[900 * 8 + 7] ^= 0x01;  // bit 63

  const kith::BitIndex index = kith::BitIndex::build(kith::BitView(codes.data(), 1000, 64));
  const kith::Neighbors near = index.knn_self(1, {.exclude_self = true});
  std::printf("the code nearest to code 17 is %u, with %g different bits\n", near.index(17, 0), near.distance(17, 0));

  const kith::NeighborLists close = index.radius_self(2, {.earlier_only = true});
  for (std::uint64_t code = 0; code < close.queries(); ++code) {
    for (std::uint64_t j = 0; j < close.count(code); ++j) {
      std::printf("code %llu is nearly code %u\n", static_cast<unsigned long long>(code), close.index(code, j));
    }
  }
  return near.index(17, 0) == 900 && near.distance(17, 0) == 2 && close.count(900) == 1 ? 0 : 1;
}
