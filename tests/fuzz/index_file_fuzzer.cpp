// Feeds forged index files to the loader, with their checksums made right, so that it must look at the contents. It may
// refuse them with CorruptFile; what it accepts must be the very index of the points that it holds, or a cover tree
// that answers as it does.
#include "support/sign_index.hpp"

#include "engine/index_file/layout.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>
#include <kith/point_set.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <span>
#include <vector>

namespace {

using kith::engine::HeaderRecord;
using kith::engine::SectionRecord;
using Bytes = std::vector<std::byte>;

/// Reads the input from front to back; zeros when it has ended.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool is_empty() const { return at_ >= size_; }
  std::uint8_t byte() { return at_ < size_ ? data_[at_++] : std::uint8_t{0}; }
  template <typename U>
  U value() {
    U out{};
    for (std::size_t i = 0; i < sizeof out; ++i) out |= static_cast<U>(static_cast<U>(byte()) << (8 * i));
    return out;
  }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
  std::size_t at_ = 0;
};

/// A genuine file, chosen by four bytes. Few enough of them to keep all.
const Bytes& genuine(std::array<std::uint8_t, 4> recipe) {
  constexpr std::uint8_t kSizes[] = {0, 1, 2, 7, 16, 33, 70, 120};
  constexpr std::uint8_t kDims[] = {1, 2, 3, 9};
  static std::map<std::array<std::uint8_t, 4>, Bytes> made;
  recipe[0] %= 16;
  recipe[1] = kSizes[recipe[1] % std::size(kSizes)];
  recipe[2] = kDims[recipe[2] % std::size(kDims)];
  recipe[3] %= 3;
  const auto found = made.find(recipe);
  if (found != made.end()) return found->second;
  const kith::DType dtype = recipe[0] % 2 == 0 ? kith::DType::f32 : kith::DType::f64;
  kith::PointSet points(dtype, recipe[1], recipe[2]);
  std::mt19937_64 random(recipe[1]);
  const auto fill = [&](auto values) {
    for (auto& x : values) x = static_cast<std::decay_t<decltype(x)>>(random() % (recipe[3] == 0 ? 3 : 1000));
    if (recipe[3] == 2 && !values.empty()) values[values.size() / 2] = std::numeric_limits<float>::infinity();
  };
  if (dtype == kith::DType::f32) {
    fill(points.values<float>());
  } else {
    fill(points.values<double>());
  }
  kith::BuildOptions options;
  constexpr kith::Engine kEngines[] = {kith::Engine::brute_force, kith::Engine::kd_tree, kith::Engine::kd_tree,
                                       kith::Engine::cover_tree};
  options.engine = kEngines[recipe[0] / 2 % 4];
  const bool is_cover_tree = options.engine == kith::Engine::cover_tree;
  options.metric = recipe[0] / 8 == 0 ? kith::Metric::l2() : is_cover_tree ? kith::Metric::l1() : kith::Metric::lp(3);
  options.leaf_size = static_cast<std::uint32_t>(is_cover_tree ? 2 : recipe[0] / 2 % 4 * 5);
  options.split = recipe[1] % 2 == 0 ? kith::SplitRule::widest : kith::SplitRule::cycle;
  if (recipe[1] % 5 == 0 && recipe[0] / 8 == 0 && !is_cover_tree) options.period.assign(recipe[2], 1024);
  options.skip_nonfinite = true;
  options.threads = 1;
  return made[recipe] = kith::Index::build(points.view(), options).to_bytes({1, {}});
}

/// Writes some bytes to a place in the front matter or in one section.
void change(Bytes& bytes, Input& input) {
  HeaderRecord header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::uint8_t where = input.byte();
  std::uint64_t first = 0, size = std::min<std::uint64_t>(header.front_bytes, bytes.size());
  const std::uint32_t sections = std::min<std::uint32_t>(header.section_count, 8);
  if (where % 4 != 0 && sections > 0) {
    SectionRecord section;
    std::memcpy(&section, bytes.data() + sizeof header + where / 4 % sections * sizeof section, sizeof section);
    if (section.offset < bytes.size() && section.count > 0) {
      first = section.offset;
      size = std::min<std::uint64_t>(bytes.size() - first, section.count * section.element_bytes);
    }
  }
  if (size == 0) return;
  const std::uint64_t place = first + input.value<std::uint16_t>() % size;
  const std::uint8_t how = input.byte();
  const auto put = [&](auto value) {
    const std::size_t count = std::min<std::size_t>(sizeof value, bytes.size() - place);
    std::memcpy(bytes.data() + place, &value, count);
  };
  switch (how % 6) {
    case 0:
      bytes[place] ^= std::byte{input.byte()};
      break;
    case 1:
      put(input.value<std::uint16_t>());
      break;
    case 2:
      put(input.value<std::uint32_t>());
      break;
    case 3:
      put(input.value<std::uint64_t>());
      break;
    case 4: {  // swaps with another place of the same part
      const std::uint64_t other = first + input.value<std::uint16_t>() % size;
      const std::size_t count =
          std::min<std::size_t>({4u + 4u * (how / 6 % 2), size, bytes.size() - std::max(place, other)});
      for (std::size_t i = 0; i < count; ++i) std::swap(bytes[place + i], bytes[other + i]);
      break;
    }
    default:
      put(static_cast<float>(static_cast<std::int8_t>(input.byte())));
  }
}

/// What an index must have been built with, as its own file says.
kith::BuildOptions options_of(const Bytes& bytes) {
  HeaderRecord header;
  std::memcpy(&header, bytes.data(), sizeof header);
  const auto front = kith::engine::decode_front(std::span(bytes).first(header.front_bytes), bytes.size(), "saved");
  kith::BuildOptions options;
  options.engine = front.facts.engine;
  options.metric = front.facts.metric;
  options.leaf_size = front.facts.parameters[kith::engine::kLeafSizeParameter];
  options.split =
      front.facts.parameters[kith::engine::kSplitRuleParameter] == 0 ? kith::SplitRule::widest : kith::SplitRule::cycle;
  for (const SectionRecord& section : front.sections) {
    if (section.id != static_cast<std::uint32_t>(kith::engine::SectionId::period)) continue;
    options.period.resize(section.count);
    std::memcpy(options.period.data(), bytes.data() + section.offset, section.bytes());
  }
  options.skip_nonfinite = true;
  options.threads = 1;
  return options;
}

void load(const Bytes& bytes) {
  std::optional<kith::Index> loaded;
  kith::LoadOptions one_thread;
  one_thread.threads = 1;
  try {
    loaded = kith::Index::from_bytes(bytes, one_thread);
  } catch (const kith::CorruptFile&) {
    return;
  }
  if (loaded->size() > 4096) return;  // rows that were left out may be many; nothing is held for them
  kith::SearchOptions search;
  search.threads = 1;
  loaded->knn_self(3, search);
  if (!loaded->holds_points()) return;  // what became of them cannot be built from again
  const kith::PointSet points = loaded->points(1);
  const Bytes saved = loaded->to_bytes({1, {}});
  if (loaded->engine() == kith::Engine::cover_tree) {  // other trees than ours are right if they answer right
    const kith::Index built = kith::Index::build(points.view(), options_of(saved));
    for (const std::uint32_t k : {1u, 9u}) {
      if (!std::ranges::equal(loaded->knn_self(k, search).indices(), built.knn_self(k, search).indices())) std::abort();
    }
    return;
  }
  if (kith::Index::build(points.view(), options_of(saved)).to_bytes({1, {}}) != saved) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const std::uint8_t mode = input.byte();
  if (mode == 0) {  // bytes as they are, signed
    Bytes bytes(size - std::min<std::size_t>(size, 1));
    if (!bytes.empty()) std::memcpy(bytes.data(), data + 1, bytes.size());
    kith::test::sign_index(bytes);
    load(bytes);
    return 0;
  }
  Bytes bytes = genuine({input.byte(), input.byte(), input.byte(), input.byte()});
  for (int changes = 0; changes < 16 && !input.is_empty(); ++changes) change(bytes, input);
  if (mode % 8 == 1) bytes.resize(bytes.size() - std::min<std::size_t>(bytes.size(), input.value<std::uint16_t>()));
  kith::test::sign_index(bytes);
  load(bytes);
  return 0;
}
