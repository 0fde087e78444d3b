// Small index files to be damaged and forged, and what must become of them.
#pragma once

#include "engine/index_file/index_file_writer.hpp"
#include "support/random_case.hpp"
#include "support/sign_index.hpp"

#include <kith/error.hpp>
#include <kith/index.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace kith::test::forged {

using engine::FrontMatter;
using engine::HeaderRecord;
using engine::SectionId;
using engine::SectionRecord;
using Bytes = std::vector<std::byte>;

inline const LoadOptions kOneThread{.threads = 1};

inline bool has_period(Engine engine, DType dtype) { return dtype == DType::f32 && engine != Engine::cover_tree; }

/// A small index as a file. f64 has padding in its leaf blocks, f32 has none; f32 has periodic axes where there are
/// any.
inline Bytes sample(Engine engine, DType dtype) {
  std::mt19937_64 random(17);
  PointSet points = nasty_points(NastyShape::uniform, dtype, 70, dtype == DType::f32 ? 3 : 2, random);
  if (dtype == DType::f32) {
    points.values<float>()[30] = std::numeric_limits<float>::infinity();
  } else {
    points.values<double>()[30] = std::numeric_limits<double>::quiet_NaN();
  }
  BuildOptions options{.engine = engine, .leaf_size = 16, .skip_nonfinite = true, .threads = 1};
  if (engine == Engine::cover_tree) {  // small leaves of two far clusters and duplicates: several levels
    options.leaf_size = 3;
    const auto spread = [](auto values) {
      for (std::size_t i = 0; i < values.size(); ++i) values[i] += i % 5 == 0 ? 8 : 0;
      std::copy_n(values.begin(), 12, values.begin() + 36);
    };
    dtype == DType::f32 ? spread(points.values<float>()) : spread(points.values<double>());
  }
  if (has_period(engine, dtype)) options.period = {1, 0, 2.5};
  return Index::build(points.view(), options).to_bytes();
}

inline FrontMatter front_of(const Bytes& bytes) {
  HeaderRecord header;
  std::memcpy(&header, bytes.data(), sizeof header);
  return engine::decode_front(std::span(bytes).first(header.front_bytes), bytes.size(), "sample");
}

inline const SectionRecord& section_of(const FrontMatter& front, SectionId id) {
  for (const SectionRecord& section : front.sections) {
    if (section.id == static_cast<std::uint32_t>(id)) return section;
  }
  throw std::runtime_error("no such section");
}

/// Places of a changed value: in the header, or in the table.
template <typename U>
Bytes with_value(Bytes bytes, std::uint64_t offset, U value) {
  std::memcpy(bytes.data() + offset, &value, sizeof value);
  sign_index(bytes);
  return bytes;
}

inline std::uint64_t table_place(std::uint32_t section, std::size_t field) {
  return sizeof(HeaderRecord) + section * sizeof(SectionRecord) + field;
}

/// The loader refuses the bytes as a damaged file; the message says `part`.
inline void expect_refused(const Bytes& bytes, const std::string& part) {
  try {
    Index::from_bytes(bytes, kOneThread);
    ADD_FAILURE() << "accepted, but should be refused: " << part;
  } catch (const CorruptFile& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

/// Whether an index answers as one built from the very points that it holds.
inline bool answers_as_built(const Index& loaded, const Index& built) {
  const auto k = static_cast<std::uint32_t>(loaded.size());
  for (const std::uint32_t few : {1u, k}) {
    const Neighbors found = loaded.knn_self(few, {.threads = 1}), expected = built.knn_self(few, {.threads = 1});
    if (!std::ranges::equal(found.indices(), expected.indices())) return false;
    for (std::uint64_t i = 0; i < found.queries() * few; ++i) {
      if (found.distance(i / few, static_cast<std::uint32_t>(i % few)) !=
          expected.distance(i / few, static_cast<std::uint32_t>(i % few))) {
        return false;
      }
    }
  }
  return loaded.count_self(0.25, {.threads = 1}) == built.count_self(0.25, {.threads = 1});
}

/// Forged bytes are either refused, or they are what building from the very points that they hold gives (for a cover
/// tree: they answer as that does). Returns whether they were accepted.
inline bool refused_or_genuine(const Bytes& bytes) {
  std::optional<Index> loaded;
  try {
    loaded = Index::from_bytes(bytes, kOneThread);
  } catch (const CorruptFile&) {
    return false;
  }
  if (loaded->size() > 1000 || !loaded->holds_points()) return true;  // nothing to build from
  const PointSet points = loaded->points(1);
  const Bytes saved = loaded->to_bytes({.threads = 1});
  const FrontMatter front = front_of(saved);
  BuildOptions options{.engine = loaded->engine(),
                       .metric = loaded->metric(),
                       .split = front.facts.parameters[1] == 1 ? SplitRule::cycle : SplitRule::widest,
                       .leaf_size = front.facts.parameters[0],
                       .skip_nonfinite = true,
                       .threads = 1};
  for (const SectionRecord& section : front.sections) {
    if (section.id != static_cast<std::uint32_t>(SectionId::period)) continue;
    options.period.resize(section.count);
    std::memcpy(options.period.data(), saved.data() + section.offset, section.bytes());
  }
  const Index again = Index::build(points.view(), options);
  if (loaded->engine() == Engine::cover_tree) {
    EXPECT_TRUE(answers_as_built(*loaded, again)) << "accepted, but the answers are wrong";
    return true;
  }
  const Bytes built = again.to_bytes({.threads = 1});
  EXPECT_TRUE(built == saved) << "accepted, but not the index of its points";
  return true;
}

}  // namespace kith::test::forged
