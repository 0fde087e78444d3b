// Puts an index file together: facts and sections first, then everything as one stream of bytes.
#pragma once

#include "engine/index_file/layout.hpp"
#include "engine/searcher.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace kith::engine {

/// The same facts and sections give the same bytes: sections in the order of their ids, padding zero, nothing of the
/// machine or the time.
class IndexFileWriter {
 public:
  explicit IndexFileWriter(const IndexFacts& facts) : facts_(facts) {}

  /// What only the engine knows, e.g. its leaf size.
  void set_parameter(std::uint32_t which, std::uint32_t value) { facts_.parameters.at(which) = value; }
  /// A section of values.size() / per_element elements. The values stay where they are: they must live as long as the
  /// writer, or be kept alive by `owner`.
  template <typename U>
  void add(SectionId id, std::span<const U> values, std::uint32_t per_element = 1,
           std::shared_ptr<const void> owner = {}) {
    add_bytes(id, per_element * static_cast<std::uint32_t>(sizeof(U)), std::as_bytes(values), std::move(owner));
  }
  void add_bytes(SectionId id, std::uint32_t element_bytes, std::span<const std::byte> bytes,
                 std::shared_ptr<const void> owner = {});

  /// Called with the parts of the file from the first byte to the last.
  using Sink = std::function<void(std::span<const std::byte>)>;
  /// Computes the checksums on all threads, then hands out the bytes. Throws what `sink` throws, Interrupted.
  void write(const RunOptions& run, const Sink& sink);

 private:
  struct Part {
    SectionRecord record;
    std::span<const std::byte> bytes;
    std::shared_ptr<const void> owner;
  };
  std::vector<std::uint64_t> checksums(const RunOptions& run) const;

  IndexFacts facts_;
  std::vector<Part> parts_;  // ascending ids
};

}  // namespace kith::engine
