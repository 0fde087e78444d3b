// See class_file.hpp: files of points to be classified, and what they are once classified.
#include <kith/io/class_file.hpp>

#include "io/text/rows_as_text.hpp"
#include "runtime/output_file.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace kith::io::inline v0 {
namespace {

constexpr int kMostDecimals = 15;
constexpr std::size_t kLongestNumber = 340;  // the largest double has 309 digits before the point

template <typename Number>
void append_number(std::string& to, Number value) {
  char digits[32];
  to.append(digits, std::to_chars(digits, digits + sizeof(digits), value).ptr);
}

void require_labels(std::span<const std::uint32_t> labels, std::uint32_t classes) {
  const auto bad = std::ranges::find_if(labels, [&](std::uint32_t label) { return label >= classes; });
  if (bad != labels.end()) {
    throw UsageError(fmt::format("label {} of row {} is none of the {} classes", *bad, bad - labels.begin(), classes));
  }
}

/// Numbers with a fixed number of digits after the point, at once where they are short decimals to begin with.
class FixedDecimals {
 public:
  explicit FixedDecimals(int decimals) : decimals_(decimals), power_(1) {
    for (int i = 0; i < decimals; ++i) power_ *= 10;
  }

  char* print(char* out, double value) const {
    const auto power = static_cast<double>(power_);
    const double scaled = value * power;
    if (std::abs(scaled) < 0x1p52 && decimals_ > 0) {
      const double whole = std::nearbyint(scaled);
      // Then the value is the double next to whole / power, much nearer to it than to any other decimal of this length.
      if (whole / power == value && whole != 0) return print_whole(out, static_cast<std::int64_t>(whole));
    }
    return std::to_chars(out, out + kLongestNumber, value, std::chars_format::fixed, decimals_).ptr;
  }

 private:
  char* print_whole(char* out, std::int64_t whole) const {
    if (whole < 0) *out++ = '-';
    const auto digits = static_cast<std::uint64_t>(whole < 0 ? -whole : whole);
    out = std::to_chars(out, out + 20, digits / power_).ptr;
    *out++ = '.';
    std::uint64_t rest = digits % power_;
    for (int i = decimals_; i-- > 0; rest /= 10) out[i] = static_cast<char>('0' + rest % 10);
    return out + decimals_;
  }

  int decimals_;
  std::uint64_t power_;
};

}  // namespace

void write_classified(const std::string& path, const ClassFile& file, std::span<const std::uint32_t> labels,
                      std::span<const double> shares, const ProgressCallback& progress) {
  const std::uint64_t train = file.train.rows();
  const std::uint64_t rows = train + file.fresh.rows();
  if (labels.size() != file.fresh.rows()) {
    throw UsageError(fmt::format("{} labels were given for {} new rows", labels.size(), file.fresh.rows()));
  }
  require_labels(labels, file.classes);
  if (!shares.empty() && shares.size() != labels.size() * file.classes) {
    throw UsageError(
        fmt::format("{} shares were given for {} new rows and {} classes", shares.size(), labels.size(), file.classes));
  }
  const std::string_view text(file.text.data(), file.text.size());
  const std::string_view first_line = text.substr(0, text.find('\n'));
  const std::string_view line_end = first_line.ends_with('\r') ? "\r\n" : "\n";

  runtime::OutputFile out(path, runtime::Compression::by_name);
  out.write(first_line);
  out.write("\n");
  const std::uint64_t row_bytes = rows == 0 ? 0 : (text.size() + shares.size() * 8) / rows;
  write_rows_as_text(out, rows, row_bytes, progress, [&](std::uint64_t begin, std::uint64_t end, std::string& to) {
    for (std::uint64_t row = begin; row < end; ++row) {
      to.append(text.substr(file.starts[row], file.ends[row] - file.starts[row]));
      to += ',';
      append_number(to, row < train ? file.labels[row] : labels[row - train]);
      if (row >= train && !shares.empty()) {
        for (const double share : shares.subspan((row - train) * file.classes, file.classes)) {
          to += ',';
          append_number(to, share);
        }
      }
      to += line_end;
    }
  });
  out.commit();
}

void write_class_file(const std::string& path, PointView points, std::span<const std::uint32_t> labels,
                      std::uint64_t train, std::uint32_t classes, int decimals, const ProgressCallback& progress) {
  if (train > points.rows() || labels.size() < train) {
    throw UsageError(fmt::format("{} rows with a class of {} points and {} labels make no sense", train, points.rows(),
                                 labels.size()));
  }
  if (points.dims() == 0 || classes == 0) throw UsageError("a class file needs at least 1 dimension and 1 class");
  if (decimals < 0 || decimals > kMostDecimals) {
    throw UsageError(fmt::format("{} decimals were asked for; there can be 0 to {}", decimals, kMostDecimals));
  }
  require_labels(labels.first(train), classes);
  const FixedDecimals numbers(decimals);

  runtime::OutputFile out(path, runtime::Compression::by_name);
  out.write(fmt::format("{},{},{},{}\n", train, points.rows() - train, classes, points.dims()));
  const std::uint64_t row_bytes = std::uint64_t{points.dims()} * (static_cast<std::uint64_t>(decimals) + 5);
  write_rows_as_text(
      out, points.rows(), row_bytes, progress, [&](std::uint64_t begin, std::uint64_t end, std::string& to) {
        char number[kLongestNumber + kMostDecimals + 4];
        for (std::uint64_t row = begin; row < end; ++row) {
          for (std::uint32_t d = 0; d < points.dims(); ++d) {
            const double value = points.at(row, d);
            if (!std::isfinite(value)) {
              throw BadData(fmt::format("row {}, column {} is {}; a class file holds finite numbers only", row, d,
                                        std::isnan(value) ? "NaN" : "infinite"));
            }
            to.append(number, numbers.print(number, value));
            to += ',';
          }
          if (row < train) {
            append_number(to, labels[row]);
          } else {
            to += "-1";
          }
          to += '\n';
        }
      });
  out.commit();
}

}  // namespace kith::io::inline v0
