// The text reader gives the same for every block size and number of threads, and what a plain reader gives.
#include "io/text/text_input.hpp"
#include "support/sanitized.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <random>
#include <sstream>

namespace kith {
namespace {

using testing_text::memory_file;

/// What a file should give, worked out line by line with the C library.
struct Expected {
  std::vector<double> f64;
  std::vector<float> f32;
  std::vector<std::uint32_t> codes;
  std::vector<std::string> names;
  std::uint64_t rows = 0;
};

struct RandomFile {
  std::string text;
  Expected expected;
  std::uint32_t dims = 0;
  bool labelled = false;
  char delimiter = ',';
};

std::string random_number(std::mt19937_64& random) {
  char digits[64];
  switch (random() % 8) {
    case 0:
      std::snprintf(digits, sizeof digits, "%d", static_cast<int>(random() % 2001) - 1000);
      break;
    case 1:
      std::snprintf(digits, sizeof digits, "%.17g", std::bit_cast<double>(random() & 0x7FDFFFFFFFFFFFFFull) * 1e-280);
      break;
    case 2:
      std::snprintf(digits, sizeof digits, "%+.9e", static_cast<double>(random() % 1000) / 7 - 70);
      break;
    case 3:
      std::snprintf(digits, sizeof digits, "%s", random() % 2 ? "nan" : "-inf");
      break;
    default: {
      const auto places = static_cast<int>(random() % 9);
      std::snprintf(digits, sizeof digits, "%.*f", places,
                    static_cast<double>(static_cast<std::int64_t>(random() >> 20)) / 1e6 - 1e6);
    }
  }
  return digits;
}

std::string blanks(std::mt19937_64& random, bool at_least_one) {
  std::string result(at_least_one ? 1 : 0, random() % 4 ? ' ' : '\t');
  while (random() % 4 == 0) result += random() % 2 ? ' ' : '\t';
  return result;
}

RandomFile random_file(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RandomFile file;
  file.dims = static_cast<std::uint32_t>(random() % 5 + 1);
  file.labelled = random() % 2 == 0;
  file.delimiter = ",; "[random() % 3];
  const std::uint64_t rows = random() % 60;
  const std::string line_end = random() % 2 ? "\n" : "\r\n";
  const std::vector<std::string> classes = {"a", "bb", "c c", "\"d\"", "7", "e,e;"};
  const auto separator = [&] {
    if (file.delimiter == ' ') return blanks(random, true);
    const std::string before = blanks(random, false) + file.delimiter;
    return before + blanks(random, false);
  };

  std::ostringstream text;
  for (std::uint32_t d = 0; d < file.dims; ++d) text << "name" << d << separator();
  text << (file.labelled ? "class" : "other") << line_end;
  std::map<std::string, std::uint32_t> codes;
  for (std::uint64_t row = 0; row < rows; ++row) {
    while (random() % 5 == 0) text << (random() % 2 ? "" : "  # 1,2,3 or more") << line_end;
    if (file.delimiter == ' ' && random() % 2) text << blanks(random, true);
    for (std::uint32_t d = 0; d < file.dims; ++d) {
      const std::string number = random_number(random);
      file.expected.f64.push_back(std::strtod(number.c_str(), nullptr));
      file.expected.f32.push_back(std::strtof(number.c_str(), nullptr));
      text << (random() % 10 == 0 ? "\"" + number + "\"" : number) << separator();
    }
    const std::string& name = classes[random() % classes.size()];
    std::string quoted;
    for (const char c : name) quoted += c == '"' ? "\"\"" : std::string(1, c);
    text << '"' << quoted << '"';
    const auto [known, is_new] = codes.emplace(name, static_cast<std::uint32_t>(codes.size()));
    if (is_new) file.expected.names.push_back(name);
    file.expected.codes.push_back(known->second);
    ++file.expected.rows;
    if (row + 1 < rows || random() % 2) text << line_end;
  }
  file.text = text.str();
  return file;
}

/// Bytes, except that any NaN equals any other.
template <typename T>
bool same_values(std::span<const T> a, const std::vector<T>& b) {
  return std::ranges::equal(
      a, b, [](T x, T y) { return (std::isnan(x) && std::isnan(y)) || std::memcmp(&x, &y, sizeof(T)) == 0; });
}

TEST(TextBlocks, RandomFilesEqualThePlainReaderForEveryBlockSizeAndThreadCount) {
  const std::uint64_t files = KITH_TEST_SANITIZED ? 75 : 300;
  for (std::uint64_t seed = 0; seed < files; ++seed) {
    const RandomFile c = random_file(seed);
    SCOPED_TRACE(testing::Message() << "replay with random_file(" << seed << "):\n" << c.text);
    const runtime::InputFile file = memory_file(c.text);
    io::ReadOptions options{.delimiter = c.delimiter, .header = true, .missing_as_nan = true};
    if (c.labelled) {
      options.label = "last";
    } else {
      for (std::uint32_t d = 0; d < c.dims; ++d) options.columns.push_back(std::to_string(d + 1));
    }
    for (const std::uint64_t block : {1, 16, 23, 100, 1 << 20}) {
      for (const int threads : {1, 2, 5}) {
        options.threads = threads;
        options.dtype = DType::f64;
        const io::PointFile f64 = io::read_text_in_blocks(file, options, block);
        ASSERT_EQ(f64.points.rows(), c.expected.rows);
        ASSERT_EQ(f64.points.dims(), c.dims);
        ASSERT_TRUE(same_values<double>(f64.points.values<double>(), c.expected.f64));
        ASSERT_EQ(f64.labels.has_value(), c.labelled);
        if (c.labelled) {
          ASSERT_EQ(f64.labels->codes, c.expected.codes);
          ASSERT_EQ(f64.labels->names, c.expected.names);
        }
        options.dtype = DType::f32;
        const io::PointFile f32 = io::read_text_in_blocks(file, options, block);
        ASSERT_TRUE(same_values<float>(f32.points.values<float>(), c.expected.f32));
      }
    }
  }
}

/// The exit code and message of the first error, or "" if there is none.
std::string outcome(const runtime::InputFile& file, const io::ReadOptions& options, std::uint64_t block) {
  try {
    io::read_text_in_blocks(file, options, block);
  } catch (const Error& error) {
    return std::to_string(error.exit_code()) + " " + error.what();
  }
  return "";
}

TEST(TextBlocks, TheFirstErrorDoesNotDependOnBlocksOrThreads) {
  const std::uint64_t files = KITH_TEST_SANITIZED ? 50 : 200;
  for (std::uint64_t seed = 0; seed < files; ++seed) {
    std::mt19937_64 random(seed);
    const int rows = 50 + static_cast<int>(random() % 50);
    std::vector<std::string> lines;
    for (int row = 0; row < rows; ++row) lines.push_back(std::to_string(row) + ",2.5,3\n");
    std::size_t first_bad = lines.size();
    std::uint64_t missing = 0;
    bool first_is_missing = false;
    for (int fault = 0; fault < 4; ++fault) {
      const std::size_t at = 5 + random() % (lines.size() - 5);
      if (lines[at].find("2.5") == std::string::npos || lines[at].size() < 7) continue;  // already bad
      const std::uint64_t kind = random() % 4;
      lines[at] = std::vector<std::string>{"1,2.5\n", "1,abc,2\n", "1,1e999,2.5\n", "?,2,\n"}[kind];
      missing += kind == 3 ? 2 : 0;
      if (at < first_bad) {
        first_bad = at;
        first_is_missing = kind == 3;
      }
      lines[at].insert(0, " ");
    }
    std::string text;
    for (const std::string& line : lines) text += line;
    SCOPED_TRACE(testing::Message() << "seed " << seed << "\n" << text);
    const runtime::InputFile file = memory_file(text);
    const std::string whole = outcome(file, {.threads = 1}, 1 << 20);
    ASSERT_NE(whole.find("line " + std::to_string(first_bad + 1)), std::string::npos) << whole;
    if (first_is_missing) {
      ASSERT_NE(whole.find("(" + std::to_string(missing) + " missing values"), std::string::npos) << whole;
    }
    for (const std::uint64_t block : {1, 8, 50, 333}) {
      for (const int threads : {1, 2, 5}) ASSERT_EQ(outcome(file, {.threads = threads}, block), whole);
    }
  }
}

TEST(TextBlocks, ALargeFileThroughTheUsualBlocks) {
  constexpr int kRows = 200'000;
  std::string text = "x,y,class\n";
  for (int row = 0; row < kRows; ++row) {
    text += std::to_string(row) + ".5," + std::to_string(-row) + ",c" + std::to_string(row % 1000) + "\n";
  }
  const runtime::InputFile file = memory_file(text);
  for (const int threads : {1, 2, 5}) {
    const io::PointFile points = io::read_text(file, {.label = "class", .threads = threads});
    ASSERT_EQ(points.points.rows(), std::uint64_t{kRows});
    ASSERT_EQ(points.labels->names.size(), 1000u);
    for (int row = 0; row < kRows; ++row) {
      const auto i = static_cast<std::uint64_t>(row);
      ASSERT_EQ(points.view().at(i, 0), row + .5);
      ASSERT_EQ(points.view().at(i, 1), -row);
      ASSERT_EQ(points.labels->codes[i], static_cast<std::uint32_t>(row % 1000));
    }
  }
}

}  // namespace
}  // namespace kith
