// Numbers as a page stores them: as few bytes as they need, byte planes, compressed, in base64.
#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace kith::apps {

/// How closely a page keeps numbers.
enum class Closeness {
  exact,    ///< as they are
  rounded,  ///< those that are not whole to one of 65,535 steps of their range
};

/// The arrays of a page. Each is one block of the page, which the scene describes.
class StoredArrays {
 public:
  using Fill = std::function<void(std::span<double>)>;

  /// `fill` writes the `count` numbers of the array, later and on any thread. What is not finite becomes NaN. Returns
  /// the number of the block.
  std::size_t add(std::uint64_t count, Closeness closeness, Fill fill);

  /// Encodes all of them, `threads` at a time.
  void encode(int threads);

  /// What the scene says of a block: the type, the count and how the values are made of what is stored.
  nlohmann::ordered_json description(std::size_t block) const;
  /// The distance between two values that it can hold; 0 if all are as they were.
  double step(std::size_t block) const { return arrays_[block].rounded_step; }
  std::size_t size() const { return arrays_.size(); }
  /// The block in base64. Gives the memory away.
  std::string take_text(std::size_t block) { return std::move(arrays_[block].text); }

 private:
  struct Array {
    std::uint64_t count = 0;
    Closeness closeness = Closeness::exact;
    Fill fill;
    nlohmann::ordered_json description = {};
    double rounded_step = 0;
    std::string text = {};
  };
  static void encode(Array& array);

  std::vector<Array> arrays_;
};

}  // namespace kith::apps
