// Tables: every column with its own type, from each format to each other and back, and what a format cannot hold.
#include "io/binary_input.hpp"

#include <kith/io/table.hpp>

#include <bit>
#include <cmath>
#include <cstring>

namespace kith::io::test {
namespace {

TextValues texts_of(const std::vector<std::string>& texts) {
  TextValues values;
  for (const std::string& text : texts) values.push_back(text);
  return values;
}

template <typename T>
Column numbers(const std::string& name, const std::vector<T>& values) {
  return Column(name, std::span<const T>(values));
}

/// Coordinates of one type and an attribute of each kind.
Table some_table() {
  Table table;
  table.named = true;
  table.columns.push_back(numbers<float>("x", {0.1f, -2.5f, 3.25f}));
  table.columns.push_back(numbers<float>("y", {1e-30f, 0.f, 7.f}));
  table.columns.push_back(numbers<float>("z", {5.f, 6.f, -7.f}));
  table.columns.push_back(numbers<std::uint8_t>("red", {0, 255, 7}));
  table.columns.push_back(numbers<std::int16_t>("nx", {-32768, 0, 32767}));
  table.columns.push_back(numbers<std::uint16_t>("intensity", {65535, 1, 0}));
  table.columns.push_back(numbers<std::int32_t>("label", {-2147483647, 0, 5}));
  table.columns.push_back(numbers<double>("weight", {0.1, std::nan(""), -1e300}));
  table.coordinates = {0, 1, 2};
  return table;
}

Table there_and_back(const Table& table, const std::string& name, const WriteOptions& options = {}) {
  const std::string path = temporary_path(name);
  write_table(path, table, options);
  Table back = read_table(path);
  std::remove(path.c_str());
  return back;
}

void expect_same_values(const Column& a, const Column& b) {
  SCOPED_TRACE(a.name());
  ASSERT_EQ(a.rows(), b.rows());
  EXPECT_EQ(name_of(a.type()), name_of(b.type()));
  if (a.type() != b.type()) return;
  for (std::uint64_t row = 0; row < a.rows(); ++row) {
    std::string left;
    std::string right;
    a.print(row, left);
    b.print(row, right);
    EXPECT_EQ(left, right) << "row " << row;
  }
}

void expect_same(const Table& a, const Table& b) {
  ASSERT_EQ(a.columns.size(), b.columns.size());
  for (std::size_t i = 0; i < a.columns.size(); ++i) {
    EXPECT_EQ(a.columns[i].name(), b.columns[i].name());
    expect_same_values(a.columns[i], b.columns[i]);
  }
}

TEST(Table, RecordFormatsKeepEveryColumnAndItsType) {
  const Table table = some_table();
  for (const std::string name : {"t.ply", "t.pcd", "t.ply.gz", "t.pcd.gz"}) {
    for (const bool ascii : {false, true}) {
      SCOPED_TRACE(name + (ascii ? " ascii" : ""));
      const Table back = there_and_back(table, name, {.ascii = ascii});
      expect_same(table, back);
      EXPECT_EQ(back.coordinates, table.coordinates);
    }
  }
}

TEST(Table, FormatsOfRecordsGiveTheSameTableByAnyWay) {
  const Table table = some_table();
  const std::vector<std::string> names = {"a.ply", "a.pcd"};
  for (const std::string& first : names) {
    for (const std::string& second : names) {
      SCOPED_TRACE(first + " to " + second);
      expect_same(table, there_and_back(there_and_back(table, first), second));
    }
  }
}

TEST(Table, NpzHoldsCoordinatesAsAMatrixAndTheRestAsVectors) {
  Table table = some_table();
  const Table back = there_and_back(table, "t.npz");
  ASSERT_EQ(back.columns.size(), table.columns.size());
  EXPECT_EQ(back.coordinates, table.coordinates);
  for (std::size_t i = 0; i < table.columns.size(); ++i) expect_same_values(table.columns[i], back.columns[i]);
  EXPECT_EQ(back.columns[7].name(), "weight");
  // NumPy reads text columns; kith leaves them out, and says so.
  table.columns.emplace_back("name", texts_of({"a", "Zürich", ""}));
  const Table with_text = there_and_back(table, "text.npz");
  EXPECT_EQ(with_text.columns.size(), 8u);
  ASSERT_EQ(with_text.notes.size(), 1u);
  EXPECT_NE(with_text.notes[0].find("name"), std::string::npos);
}

TEST(Table, NpyHoldsTheCoordinatesAndSaysWhatIsLeftOut) {
  const Table table = some_table();
  const std::string path = temporary_path("t.npy");
  const auto notes = write_table(path, table);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("red, nx, intensity, label, weight"), std::string::npos) << notes[0];
  const Table back = read_table(path);
  ASSERT_EQ(back.columns.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) expect_same_values(table.columns[i], back.columns[i]);
  // Whole numbers of one type stay what they are.
  Table whole;
  whole.columns.push_back(numbers<std::int64_t>("a", {1, -(std::int64_t{1} << 62)}));
  whole.coordinates = {0};
  EXPECT_TRUE(write_table(path, whole).empty());
  expect_same_values(read_table(path).columns[0], whole.columns[0]);
  std::remove(path.c_str());
}

TEST(Table, TextStaysAsItStood) {
  const std::string path = temporary_path("t.csv");
  const std::string text =
      "id,x,y,name,empty\n007,35.50,1e3,\"Smith, J.\",\n8,-0,+2.,,\n12345678901234567890,nan,NA,\"say \"\"hi\"\"\",\n";
  std::ofstream(path) << text;
  const Table table = read_table(path);
  ASSERT_EQ(table.columns.size(), 5u);
  EXPECT_EQ(table.rows(), 3u);
  EXPECT_EQ(table.columns[1].type(), ColumnType::f64);
  EXPECT_EQ(table.columns[1].values<double>()[0], 35.5);
  EXPECT_TRUE(std::isnan(table.columns[2].values<double>()[2]));
  EXPECT_TRUE(table.columns[3].is_text());
  EXPECT_EQ(table.columns[3].texts()[0], "Smith, J.");
  const std::string copy = temporary_path("copy.csv");
  EXPECT_TRUE(write_table(copy, table).empty());
  EXPECT_EQ(content_of(copy), text);
  const std::string tabs = temporary_path("copy.tsv.gz");
  write_table(tabs, table);
  write_table(copy, read_table(tabs));
  EXPECT_EQ(content_of(copy), text);
  for (const std::string& file : {path, copy, tabs}) std::remove(file.c_str());
}

TEST(Table, WholeNumbersOfTextBecomeIntegers) {
  const std::string path = temporary_path("t.csv");
  std::ofstream(path) << "x,red,label,id\n1,255,-3,5000000000\n2,0,4,1\n";
  const Table table = read_table(path);
  EXPECT_EQ(table.columns[1].type(), ColumnType::u8);
  EXPECT_EQ(table.columns[2].type(), ColumnType::i32);
  EXPECT_EQ(table.columns[3].type(), ColumnType::i64);
  const Table ply = there_and_back(table, "t.ply");
  EXPECT_EQ(ply.columns[0].type(), ColumnType::f64);  // a coordinate that happens to be whole
  EXPECT_EQ(ply.columns[1].type(), ColumnType::u8);
  EXPECT_EQ(ply.columns[3].type(), ColumnType::f64);  // PLY has no 64-bit integers
  EXPECT_EQ(ply.columns[3].values<double>()[0], 5e9);
  std::ofstream(path) << "x,id\n1,9007199254740993\n";
  const Table exact = read_table(path);
  try {
    write_table(temporary_path("lost.ply"), exact);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("`drop=id`"), std::string::npos) << error.what();
  }
  expect_same_values(there_and_back(exact, "kept.pcd").columns[1], exact.columns[1]);
  std::remove(path.c_str());
}

TEST(Table, RaggedRowsAreNamed) {
  const std::string path = temporary_path("t.csv");
  std::ofstream(path) << "a,b\n1,2\n# comment\n\n3\n";
  try {
    read_table(path);
    ADD_FAILURE() << "nothing was thrown";
  } catch (const BadData& error) {
    EXPECT_NE(std::string(error.what()).find("line 5: 1 field, but the header in line 1 has 2"), std::string::npos)
        << error.what();
  }
  std::remove(path.c_str());
}

TEST(Table, LasKeepsAttributesAndExtraBytes) {
  Table table = some_table();
  table.columns[7] = numbers<double>("gps_time", {1.5, 2.5, 1e9});
  table.columns.push_back(numbers<std::uint8_t>("classification", {2, 31, 0}));
  table.columns.push_back(numbers<std::uint8_t>("return_number", {1, 2, 1}));
  table.columns.push_back(numbers<std::uint8_t>("withheld", {0, 1, 0}));
  table.columns.push_back(numbers<float>("mean_distance", {0.1f, 0.2f, 0.3f}));
  table.columns[1] = numbers<float>("y", {0.5f, 0.25f, 7.f});
  table.columns[0] = numbers<float>("x", {0.5f, -2.5f, 3.25f});
  const Table back = there_and_back(table, "t.las");
  EXPECT_EQ(back.format, Format::las);
  for (const Column& column : table.columns) {
    SCOPED_TRACE(column.name());
    const auto found = back.find(column.name());
    ASSERT_TRUE(found.has_value());
    const Column& other = back.columns[*found];
    for (std::uint64_t row = 0; row < 3; ++row) EXPECT_EQ(column.number(row), other.number(row));
    if (column.name().size() == 1) continue;  // x, y and z become f64
    EXPECT_EQ(column.type(), other.type());
  }
  // From LAS to LAS nothing changes any more, in either version.
  const std::string first = temporary_path("first.las");
  const std::string second = temporary_path("second.las");
  for (const bool infrared : {false, true}) {
    if (infrared) table.columns.push_back(numbers<std::uint16_t>("nir", {1, 2, 65535}));
    EXPECT_TRUE(write_table(first, table).empty());
    EXPECT_TRUE(write_table(second, read_table(first)).empty());
    EXPECT_EQ(content_of(first), content_of(second));
    EXPECT_EQ(content_of(first)[25], infrared ? 4 : 2);
  }
  std::remove(first.c_str());
  std::remove(second.c_str());
}

TEST(Table, LasSaysWhatItCannotHold) {
  const std::string path = temporary_path("t.las");
  Table table = some_table();
  table.columns.push_back(numbers<float>("classification", {0.5f, 1.f, 2.f}));
  table.columns[0] = numbers<float>("x", {1e-7f, 0.3f, 1e6f});
  const auto notes = write_table(path, table);
  ASSERT_EQ(notes.size(), 3u);
  EXPECT_NE(notes[0].find("classification_value"), std::string::npos) << notes[0];
  EXPECT_NE(notes[1].find("so x moves by up to"), std::string::npos) << notes[1];
  table.columns[0] = numbers<float>("x", {1.f, INFINITY, 2.f});
  EXPECT_THROW(write_table(path, table), BadData);
  table.columns[0] = numbers<float>("lon", {1.f, 3.f, 2.f});
  EXPECT_THROW(write_table(path, table), UsageError);
  std::remove(path.c_str());
}

TEST(Table, TextIsLeftOutOfFormatsOfNumbers) {
  Table table = some_table();
  table.columns.emplace_back("name", texts_of({"a", "b", "c"}));
  for (const std::string name : {"t.ply", "t.pcd", "t.las"}) {
    const std::string path = temporary_path(name);
    const auto notes = write_table(path, table);
    ASSERT_FALSE(notes.empty());
    EXPECT_NE(notes[0].find("hold no text, so this column is left out: name; write .csv"), std::string::npos);
    std::remove(path.c_str());
  }
}

TEST(Table, ViewpointAndCommentsStay) {
  const std::string path = temporary_path("v.pcd");
  std::ofstream(path) << "VERSION 0.7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F U\nCOUNT 1 1 1 1\nWIDTH 1\nHEIGHT 1\n"
                         "VIEWPOINT 1 2 3 0 1 0 0\nPOINTS 1\nDATA ascii\n1 2 3 16711680\n";
  const Table pcd = read_table(path);
  EXPECT_EQ(pcd.viewpoint, "1 2 3 0 1 0 0");
  EXPECT_EQ(pcd.columns[3].type(), ColumnType::u32);
  write_table(path, take_rows(pcd, std::vector<std::uint32_t>{0}));
  EXPECT_NE(content_of(path).find("\nVIEWPOINT 1 2 3 0 1 0 0\n"), std::string::npos);
  EXPECT_NE(content_of(path).find("TYPE F F F U\n"), std::string::npos);
  std::remove(path.c_str());
  const std::string ply = temporary_path("v.ply");
  std::ofstream(ply) << "ply\nformat ascii 1.0\ncomment made by hand\nelement vertex 1\nproperty float x\n"
                        "property list uchar int more\nelement face 2\nproperty int a\nend_header\n1 0\n1\n1\n";
  const Table table = read_table(ply);
  EXPECT_EQ(table.comments, std::vector<std::string>{"made by hand"});
  ASSERT_EQ(table.notes.size(), 2u);
  EXPECT_NE(table.notes[0].find("face"), std::string::npos);
  EXPECT_NE(table.notes[1].find("more"), std::string::npos);
  std::remove(ply.c_str());
}

TEST(Table, RowsAreTakenAndJoined) {
  Table table = some_table();
  const Table taken = take_rows(table, std::vector<std::uint32_t>{2, 0, 2});
  ASSERT_EQ(taken.rows(), 3u);
  EXPECT_EQ(taken.columns[3].values<std::uint8_t>()[0], 7);
  EXPECT_EQ(taken.columns[3].values<std::uint8_t>()[1], 0);
  EXPECT_THROW(take_rows(table, std::vector<std::uint32_t>{3}), UsageError);

  Table other = some_table();
  std::swap(other.columns[0], other.columns[3]);  // found by name
  other.columns[4] = numbers<std::int32_t>("nx", {1000000, 2, 3});
  append_rows(table, other, "other.ply");
  EXPECT_EQ(table.rows(), 6u);
  EXPECT_EQ(table.columns[0].values<float>()[3], 0.1f);
  EXPECT_EQ(table.columns[3].values<std::uint8_t>()[4], 255);
  EXPECT_EQ(table.columns[4].type(), ColumnType::i32);
  EXPECT_EQ(table.columns[4].values<std::int32_t>()[0], -32768);
  other.columns[0].rename("green");
  EXPECT_THROW(append_rows(table, other, "other.ply"), UsageError);
}

TEST(Table, ColumnsAreConvertedExactlyOrNotAtAll) {
  EXPECT_TRUE(converted(numbers<double>("a", {1, 255}), ColumnType::u8).has_value());
  EXPECT_FALSE(converted(numbers<double>("a", {1, 256}), ColumnType::u8).has_value());
  EXPECT_FALSE(converted(numbers<double>("a", {1.5}), ColumnType::i64).has_value());
  EXPECT_FALSE(converted(numbers<double>("a", {-0.0}), ColumnType::i64).has_value());
  EXPECT_FALSE(converted(numbers<double>("a", {0x1p63}), ColumnType::i64).has_value());
  EXPECT_TRUE(converted(numbers<double>("a", {-0x1p63}), ColumnType::i64).has_value());
  EXPECT_FALSE(converted(numbers<double>("a", {0.1}), ColumnType::f32).has_value());
  EXPECT_TRUE(converted(numbers<double>("a", {0.5, std::nan(""), INFINITY}), ColumnType::f32).has_value());
  EXPECT_FALSE(converted(numbers<double>("a", {1e300}), ColumnType::f32).has_value());
  EXPECT_FALSE(converted(numbers<std::int64_t>("a", {9007199254740993}), ColumnType::f64).has_value());
  EXPECT_FALSE(converted(numbers<std::int8_t>("a", {-1}), ColumnType::u64).has_value());
}

TEST(Table, DamagedFilesAreErrors) {
  const Table table = some_table();
  for (const std::string name : {"t.ply", "t.pcd", "t.las", "t.npz", "t.npy", "t.csv"}) {
    SCOPED_TRACE(name);
    const std::string path = temporary_path(name);
    write_table(path, table);
    const std::string bytes = content_of(path);
    std::remove(path.c_str());
    expect_survives_damage(
        [&](const runtime::InputFile& file) {
          Table read;
          ReadOptions options;
          options.threads = 1;
          options.table = &read;
          options.want_points = false;
          read_points(file, options);
          for (const Column& column : read.columns) EXPECT_EQ(column.rows(), read.rows());
        },
        bytes, false);
  }
}

TEST(Table, ComesWithThePointsInOneRead) {
  const std::string path = temporary_path("p.ply");
  write_table(path, some_table());
  Table table;
  const PointFile file = read_points(path, {.columns = {"z", "x"}, .table = &table});
  EXPECT_EQ(file.points.dims(), 2u);
  EXPECT_EQ(table.columns.size(), 8u);
  EXPECT_THROW(read_table(path, {.columns = {"speed"}}), UsageError);
  const Table chosen = read_table(path, {.dtype = DType::f32, .columns = {"weight", "3"}});
  ASSERT_EQ(chosen.columns.size(), 2u);
  EXPECT_EQ(chosen.columns[0].type(), ColumnType::f32);
  EXPECT_EQ(chosen.columns[1].name(), "z");
  std::remove(path.c_str());
}

}  // namespace
}  // namespace kith::io::test
