// See record_source.hpp.
#include "io/records/record_source.hpp"

#include <bit>
#include <cstring>
#include <utility>

namespace kith::io::inline v0 {

RecordSource find_source(const runtime::InputFile& file, const ReadOptions& options, Format format) {
  switch (format) {
    case Format::pdb:
      return find_pdb(file, options);
    case Format::gro:
      return find_gro(file, options);
    case Format::extxyz:
      return find_extxyz(file, options);
    case Format::lammps:
      return find_lammps(file, options);
    case Format::vtk:
      return find_vtk(file, options);
    default:
      return find_raw(file, options);
  }
}

PointFile read_source(const RecordSource& source, const runtime::InputFile& file, const ReadOptions& options,
                      Format format) {
  const runtime::InputFile& bytes = source.decoded ? *source.decoded : file;
  PointFile result = read_records(bytes, source.layout, options, format, source.defaults);
  result.notes.insert(result.notes.begin(), source.notes.begin(), source.notes.end());
  return result;
}

std::size_t RowBuilder::add(std::string name, bool is_text) {
  RecordField field;
  field.name = std::move(name);
  field.type = is_text ? NumberType::u32 : NumberType::f64;
  field.offset = layout_.record_bytes;
  layout_.record_bytes += size_of(field.type);
  layout_.fields.push_back(std::move(field));
  texts_.emplace_back();
  return layout_.fields.size() - 1;
}

char* RowBuilder::at(std::size_t column) {
  return bytes_.data() + (bytes_.size() - layout_.record_bytes) + layout_.fields[column].offset;
}

void RowBuilder::start_row() {
  bytes_.resize(bytes_.size() + static_cast<std::size_t>(layout_.record_bytes));
  ++rows_;
}

void RowBuilder::set(std::size_t column, double value) { std::memcpy(at(column), &value, sizeof(value)); }

void RowBuilder::set(std::size_t column, std::string_view text) {
  Texts& texts = texts_[column];
  auto found = texts.codes.find(text);
  if (found == texts.codes.end()) {
    found = texts.codes.emplace(std::string(text), static_cast<std::uint32_t>(texts.names.size())).first;
    texts.names.emplace_back(text);
  }
  std::memcpy(at(column), &found->second, sizeof(found->second));
}

RecordSource RowBuilder::finish(const std::string& file_name) {
  RecordSource source;
  layout_.rows = rows_;
  layout_.big_endian = std::endian::native == std::endian::big;
  layout_.named = true;
  for (std::size_t column = 0; column < layout_.fields.size(); ++column) {
    if (layout_.fields[column].type != NumberType::u32) continue;
    layout_.fields[column].texts = std::make_shared<const std::vector<std::string>>(std::move(texts_[column].names));
  }
  source.layout = std::move(layout_);
  source.defaults = {"x", "y", "z"};
  source.decoded = std::make_unique<const runtime::InputFile>(file_name, std::move(bytes_));
  return source;
}

}  // namespace kith::io::inline v0
