// NPZ and the ZIP archives under it: which array is taken, stored and deflated members, ZIP64, checksums, lies, damage.
#include "io/numpy/archive_input.hpp"
#include "io/binary_input.hpp"

#include <vector>

namespace kith::io::test {
namespace {

TEST(Npz, StoredDeflatedAndZip64) {
  const std::string array = matrix({1, 2, 3, 4});
  for (const std::uint16_t method : {0, 8}) {
    for (const bool zip64 : {false, true}) {
      for (const bool zip64_end : {false, true}) {
        const std::string bytes = zip({{"anything.npy", array, method, 0, zip64}}, "a comment", zip64_end);
        const PointFile file = read_bytes(read_npz, bytes);
        EXPECT_EQ(values_of(file), (std::vector<double>{1, 2, 3, 4}));
        EXPECT_EQ(file.format, Format::npz);
      }
    }
  }
}

TEST(Npz, TakesTheArrayThatIsMeant) {
  const std::string labels = npy("<i4", "(2,)", Bytes().le(7).le(8).str());
  const std::string text = npy("<U1", "(1, 1)", std::string(4, 'a'));
  const Member other{"other.npy", matrix({9, 9})};
  ReadOptions options;

  EXPECT_EQ(values_of(read_bytes(read_npz, zip({other, {"points.npy", matrix({1, 2})}}))), (std::vector<double>{1, 2}));
  EXPECT_EQ(values_of(read_bytes(read_npz, zip({{"names.npy", text}, {"labels.npy", labels}, other}))),
            (std::vector<double>{9, 9}));
  EXPECT_EQ(values_of(read_bytes(read_npz, zip({{"labels.npy", labels, 8}, {"x.npy", matrix({1, 2}), 8}}))),
            (std::vector<double>{1, 2}));
  EXPECT_EQ(values_of(read_bytes(read_npz, zip({{"labels.npy", labels}}))), (std::vector<double>{7, 8}));

  const std::string two = zip({other, {"more.npy", matrix({1, 2})}});
  expect_error<UsageError>(read_npz, two, "other, more");
  options.array = "more";
  EXPECT_EQ(values_of(read_bytes(read_npz, two, options)), (std::vector<double>{1, 2}));
  options.array = "more.npy";
  EXPECT_EQ(values_of(read_bytes(read_npz, two, options)), (std::vector<double>{1, 2}));
  options.array = "most";
  expect_error<UsageError>(read_npz, two, "no array \"most\"", options);
  expect_error<CorruptFile>(read_npz, zip({{"readme.txt", "hello"}}), "no .npy array");
  expect_error<CorruptFile>(read_npz, zip({}), "no .npy array");
}

TEST(Npz, RefusesEncryptedAndUnknownMethods) {
  expect_error<CorruptFile>(read_npz, zip({{"a.npy", matrix({1, 2}), 0, 1}}), "encrypted");
  expect_error<CorruptFile>(read_npz, zip({{"a.npy", matrix({1, 2}), 14}}), "method 14");
}

TEST(Npz, ChecksumsAndSizesThatLie) {
  const std::string array = matrix({1, 2, 3, 4});
  for (const std::uint16_t method : {0, 8}) {
    expect_error<CorruptFile>(read_npz, zip({{"a.npy", array, method, 0, false, 1}}), "checksum");
    expect_error<CorruptFile>(read_npz, zip({{"a.npy", array, method, 0, true, 0, std::int64_t{1} << 60}}), "a.npy");
    expect_error<CorruptFile>(read_npz, zip({{"a.npy", array, method, 0, false, 0, 1000}}), "a.npy");
    expect_error<CorruptFile>(read_npz, zip({{"a.npy", array, method, 0, false, 0, -4}}), "a.npy");
  }
}

TEST(Npz, ArraysLargerThanOneChecksumBlock) {
  std::string data(9 << 20, '\0');
  for (std::size_t i = 0; i < data.size(); i += 4) {
    const float value = static_cast<float>(i);
    std::memcpy(data.data() + i, &value, 4);
  }
  const std::string array = npy("<f4", "(" + std::to_string(data.size() / 12) + ", 3)", data);
  for (const std::uint16_t method : {0, 8}) {
    const std::string bytes = zip({{"a.npy", array, method}});
    for (const int threads : {1, 3}) {
      ReadOptions options;
      options.threads = threads;
      EXPECT_EQ(bytes_of(read_bytes(read_npz, bytes, options)), data);
    }
  }
}

TEST(Npz, SurvivesDamage) {
  expect_survives_damage(Reader(read_npz), zip({{"a.npy", matrix({1, 2, 3, 4}), 0}, {"b.txt", "x"}}), true);
  expect_survives_damage(Reader(read_npz), zip({{"a.npy", matrix({1, 2, 3, 4}), 8, 0, true}}, "", true), true);
}

TEST(Npz, WhatIsWrittenReadsBackBitForBit) {
  const PointSet points = odd_points<double>(64, 3);
  const std::string bytes = written(write_npz, points.view());
  const PointFile back = read_bytes(read_npz, bytes);
  EXPECT_EQ(back.points.dtype(), DType::f64);
  EXPECT_EQ(bytes_of(back), std::string(static_cast<const char*>(points.view().data()), points.bytes()));
  ReadOptions options;
  options.array = "points";
  EXPECT_EQ(read_bytes(read_npz, bytes, options).points.rows(), 64u);
  EXPECT_EQ(bytes, written(write_npz, points.view())) << "no clock and no chance in the bytes";

  const PointView apart = strided_view<double>(points, 2);
  const PointSet copy = PointSet::copy_of(apart);
  EXPECT_EQ(bytes_of(read_bytes(read_npz, written(write_npz, apart))),
            std::string(static_cast<const char*>(copy.view().data()), copy.bytes()));
}

TEST(Npz, AFalseShapeIsNoticedBeforeInflating) {
  // Damaged behind the header, so a reader that inflates all of it says something else.
  const std::string data(1 << 20, '\0');
  for (const std::string shape : {"(1, 2)", "(262144, 2)", "(99999999999, 2)"}) {
    std::string bytes = zip({{"points.npy", npy("<f4", shape, data), 8, 0, false, 1}});
    expect_error<CorruptFile>(read_npz, bytes, shape);
  }
  expect_error<CorruptFile>(read_npz, zip({{"points.npy", npy("<f4", "(131072, 2)", data), 8, 0, false, 1}}),
                            "checksum");
}

}  // namespace
}  // namespace kith::io::test
