// Writes a table as LAS 1.2 or 1.4: attributes by their names, other columns of numbers as extra bytes.
#include "io/clouds/las_extra_bytes.hpp"
#include "io/clouds/las_point_format.hpp"
#include "io/clouds/las_scale.hpp"
#include "io/records/record_table_write.hpp"
#include "io/records/record_values.hpp"
#include "io/tables/table_formats.hpp"

#include <kith/error.hpp>

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

namespace kith::io::inline v0 {
namespace {

constexpr std::size_t kHeader12 = 227;
constexpr std::size_t kHeader14 = 375;
constexpr std::size_t kRecordHead = 54;
constexpr std::uint64_t kMostRecordBytes = 65535;

template <typename T>
void put_number(std::string& bytes, std::size_t at, T value) {
  std::memcpy(bytes.data() + at, &value, sizeof(value));
}

/// What a table becomes in LAS.
class LasTable {
 public:
  LasTable(const Table& table) : source_(table.las), numbers_(number_columns(table, Format::las, true)) {
    find_axes();
    format_ = choose_format();
    layout_ = las_point_layout(format_);
    layout_.rows = table.rows();
    place_columns();
    set_scales();
  }

  void write(runtime::OutputFile& file, const ProgressCallback& progress) {
    const bool is_14 = format_ >= 6;
    if (!is_14 && layout_.rows > std::numeric_limits<std::uint32_t>::max()) {
      throw UsageError("LAS 1.2 holds at most 4294967295 points; write the rows to several files");
    }
    std::string records = source_ ? source_->variable_records : "";
    std::uint32_t count = source_ ? source_->record_count : 0;
    if (!extra_description_.empty()) {
      std::string head(kRecordHead, '\0');
      std::ranges::copy(std::string_view("LASF_Spec"), head.begin() + 2);
      put_number(head, 18, std::uint16_t{4});
      put_number(head, 20, static_cast<std::uint16_t>(extra_description_.size()));
      records += head + extra_description_;
      ++count;
    }
    file.write(header(is_14, records.size(), count));
    file.write(records);
    write_records(file, layout_, columns_, progress);
  }

  const Notes& notes() const { return numbers_.notes; }

 private:
  Column* find(std::string_view name) {
    const auto is_called = [&](const Column& column) {  // in any case: other programs write Intensity
      return column.name().size() == name.size() && strncasecmp(column.name().data(), name.data(), name.size()) == 0;
    };
    const auto found = std::ranges::find_if(numbers_.columns, is_called);
    return found == numbers_.columns.end() ? nullptr : &*found;
  }

  /// x, y and z as f64.
  void find_axes() {
    for (const char* name : {"x", "y", "z"}) {
      Column* column = find(name);
      if (column == nullptr) {
        throw UsageError(fmt::format(
            "LAS files hold x, y and z, but there is no column \"{}\"; write .ply, .csv or .npz, or rename the columns",
            name));
      }
    }
    for (const char* name : {"x", "y", "z"}) {
      Column* column = find(name);
      *column = rounded(*column, ColumnType::f64);
      for (const double value : column->values<double>()) {
        if (!std::isfinite(value)) {
          throw BadData(
              fmt::format("LAS has no {} such as {}; leave such rows out (`skip_nonfinite=true`)", name, value));
        }
      }
    }
  }

  bool exceeds(std::string_view name, double limit) {
    const Column* column = find(name);
    if (column == nullptr) return false;
    for (std::uint64_t row = 0; row < column->rows(); ++row) {
      if (column->number(row) > limit) return true;
    }
    return false;
  }

  /// That of the source, without wave packets, or the least that holds the attributes.
  int choose_format() {
    const bool time = find("gps_time") != nullptr;
    const bool color = find("red") != nullptr && find("green") != nullptr && find("blue") != nullptr;
    const bool infrared = find("nir") != nullptr;
    const int own = source_ ? static_cast<unsigned char>(source_->bytes[104]) : 0;
    const bool extended = own >= 6 || infrared || exceeds("classification", 31) || exceeds("return_number", 7) ||
                          exceeds("number_of_returns", 7) || find("scanner_channel") != nullptr;
    if (extended) return infrared ? 8 : color ? 7 : 6;
    return color ? (time ? 3 : 2) : (time ? 1 : 0);
  }

  /// A column for each field of the point format that has one, extra bytes for the rest.
  void place_columns() {
    std::vector<bool> placed(numbers_.columns.size(), false);
    for (const RecordField& field : layout_.fields) {
      Column* column = find(field.name);
      if (column != nullptr && !field.scaled) column = fit(field, *column);
      columns_.push_back(column);
      if (column != nullptr) placed[static_cast<std::size_t>(column - numbers_.columns.data())] = true;
    }
    for (std::size_t i = 0; i < placed.size(); ++i) {
      if (!placed[i]) add_extra(numbers_.columns[i]);
    }
    if (extra_description_.size() > std::numeric_limits<std::uint16_t>::max() ||
        layout_.record_bytes > kMostRecordBytes) {
      throw UsageError(
          fmt::format("{} columns are more than LAS describes; choose some (`columns=`)", columns_.size()));
    }
  }

  /// The column with the type of the field, or null if the field does not hold its values.
  static Column* fit(const RecordField& field, Column& column) {
    const auto type = static_cast<ColumnType>(field.type == NumberType::f64
                                                  ? static_cast<int>(ColumnType::f64)
                                                  : static_cast<int>(field.type) - static_cast<int>(NumberType::i8));
    auto same = converted(column, type);
    if (!same) return nullptr;
    if (field.type == NumberType::u8 && field.mask != 0xff) {
      const auto too_large = [&](std::uint8_t value) { return value > field.mask; };
      if (std::ranges::any_of(same->values<std::uint8_t>(), too_large)) return nullptr;
    }
    column = std::move(*same);
    return &column;
  }

  void add_extra(Column& column) {
    if (std::ranges::any_of(layout_.fields, [&](const RecordField& f) { return f.name == column.name(); })) {
      numbers_.notes.push_back(
          fmt::format("LAS has its own {}, which does not hold these values; they are written as "
                      "\"{}_value\"",
                      column.name(), column.name()));
      column.rename(column.name() + "_value");
    }
    if (column.name().size() > kLasNameBytes) {
      numbers_.notes.push_back(fmt::format("LAS cuts the name \"{}\" after {} bytes", column.name(), kLasNameBytes));
    }
    layout_.fields.push_back(field_of(column, layout_.record_bytes));
    layout_.record_bytes += size_of(column.type());
    extra_description_ += describe_extra_bytes(layout_.fields.back());
    columns_.push_back(&column);
  }

  void set_scales() {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const std::span<const double> values = columns_[axis]->values<double>();
      LasScale scale{0, 0, -1};
      if (source_) {
        double own[2];
        std::memcpy(&own[0], source_->bytes.data() + 131 + 8 * axis, 8);
        std::memcpy(&own[1], source_->bytes.data() + 155 + 8 * axis, 8);
        scale = measure_scale(values, own[0], own[1]);
      }
      if (scale.error != 0) {
        const LasScale other = choose_scale(values);
        if (scale.error < 0 || other.error < scale.error) scale = other;
      }
      layout_.fields[axis].scale = scale.scale;
      layout_.fields[axis].origin = scale.offset;
      if (scale.error > 0) {
        numbers_.notes.push_back(fmt::format("LAS stores multiples of {}, so {} moves by up to {:.2g}", scale.scale,
                                             layout_.fields[axis].name, scale.error));
      }
    }
  }

  std::string header(bool is_14, std::uint64_t records_bytes, std::uint32_t records) const {
    const std::size_t bytes = is_14 ? kHeader14 : kHeader12;
    std::string head(bytes, '\0');
    if (source_) {  // who made the points, when, and how times and places are to be read
      const std::size_t common = std::size_t{94};
      std::copy_n(source_->bytes.begin(), std::min(common, source_->bytes.size()), head.begin());
    } else {
      std::ranges::copy(std::string_view("kith"), head.begin() + 58);
      if (is_14) put_number(head, 6, std::uint16_t{16});  // a place would be told as WKT
    }
    std::ranges::copy(std::string_view("LASF"), head.begin());
    head[24] = 1;
    head[25] = static_cast<char>(is_14 ? 4 : 2);
    put_number(head, 94, static_cast<std::uint16_t>(bytes));
    put_number(head, 96, static_cast<std::uint32_t>(bytes + records_bytes));
    put_number(head, 100, records);
    head[104] = static_cast<char>(format_);
    put_number(head, 105, static_cast<std::uint16_t>(layout_.record_bytes));
    put_counts(head, is_14);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const RecordField& field = layout_.fields[axis];
      const std::span<const double> values = columns_[axis]->values<double>();
      put_number(head, 131 + 8 * axis, field.scale);
      put_number(head, 155 + 8 * axis, field.origin);
      if (values.empty()) continue;
      const auto [least, most] = std::minmax_element(values.begin(), values.end());
      put_number(head, 179 + 16 * axis, *most);
      put_number(head, 187 + 16 * axis, *least);
    }
    return head;
  }

  void put_counts(std::string& head, bool is_14) const {
    std::array<std::uint64_t, 16> by_return{};
    const auto is_return = [](const RecordField& field) { return field.name == "return_number"; };
    const auto at = std::ranges::find_if(layout_.fields, is_return) - layout_.fields.begin();
    if (const Column* returns = columns_[static_cast<std::size_t>(at)]) {
      for (const std::uint8_t number : returns->values<std::uint8_t>()) ++by_return[number & 15u];
    }
    if (!is_14) {
      put_number(head, 107, static_cast<std::uint32_t>(layout_.rows));
      for (std::size_t i = 0; i < 5; ++i) put_number(head, 111 + 4 * i, static_cast<std::uint32_t>(by_return[i + 1]));
      return;
    }
    put_number(head, 247, layout_.rows);
    for (std::size_t i = 0; i < 15; ++i) put_number(head, 255 + 8 * i, by_return[i + 1]);
  }

  std::shared_ptr<const LasHeader> source_;
  NumberColumns numbers_;
  int format_ = 0;
  RecordLayout layout_;
  std::vector<const Column*> columns_;  // one per field of the layout
  std::string extra_description_;
};

}  // namespace

Notes write_las_table(runtime::OutputFile& file, const Table& table, const WriteOptions& options) {
  LasTable las(table);
  las.write(file, options.progress);
  return las.notes();
}

}  // namespace kith::io::inline v0
