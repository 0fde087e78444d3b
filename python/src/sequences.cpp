// Strings, bytes, sets and lists of numbers as SequenceSet and back, from Python and from files.
#include "module.hpp"
#include "object_items.hpp"
#include "option_words.hpp"
#include "watched_call.hpp"

#include <kith/io/read_sequences.hpp>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kith::python {
namespace {

using nb::literals::operator""_a;

[[noreturn]] void refuse(std::string_view what, std::size_t row, std::string_view wanted, nb::handle value) {
  throw nb::type_error(fmt::format("{}: number {} must be {}, not {}; all of them must be of one kind", what, row,
                                   wanted, name_of_type(value))
                           .c_str());
}

void add_text(SequenceSet& set, nb::handle value, std::string_view what, std::size_t row) {
  if (!PyUnicode_Check(value.ptr())) refuse(what, row, "a str", value);
  Py_ssize_t length = 0;
  const char* utf8 = PyUnicode_AsUTF8AndSize(value.ptr(), &length);
  if (utf8 == nullptr) {
    PyErr_Clear();
    throw nb::value_error(fmt::format("{}: number {} holds surrogates, which are not characters", what, row).c_str());
  }
  set.add(std::string_view(utf8, static_cast<std::size_t>(length)));
}

void add_bytes(SequenceSet& set, nb::handle value, std::string_view what, std::size_t row) {
  if (!PyBytes_Check(value.ptr())) refuse(what, row, "bytes", value);
  set.add(view_of_bytes(value.ptr()));
}

std::uint32_t item_of(nb::handle value, std::string_view what, std::size_t row) {
  PyObject* whole = PyNumber_Index(value.ptr());
  if (whole == nullptr) {
    PyErr_Clear();
    throw nb::type_error(
        fmt::format("{}: number {} holds a {}; its items must be whole numbers", what, row, name_of_type(value))
            .c_str());
  }
  const nb::object held = nb::steal(whole);
  int overflow = 0;
  const long long item = PyLong_AsLongLongAndOverflow(whole, &overflow);
  if (overflow != 0 || item < 0 || item > std::numeric_limits<std::uint32_t>::max()) {
    throw nb::value_error(
        fmt::format("{}: number {} holds {}; items are from 0 to 2**32 - 1", what, row, nb::str(held).c_str()).c_str());
  }
  return static_cast<std::uint32_t>(item);
}

void add_items(SequenceSet& set, nb::handle value, std::string_view what, std::size_t row,
               std::vector<std::uint32_t>& items) {
  if (PyUnicode_Check(value.ptr()) || PyBytes_Check(value.ptr()) || !nb::isinstance<nb::iterable>(value)) {
    refuse(what, row, set.kind() == SequenceKind::sets ? "a set of whole numbers" : "a list of whole numbers", value);
  }
  items.clear();
  for (const nb::handle item : nb::iter(value)) items.push_back(item_of(item, what, row));
  set.add(items);
}

SequenceKind kind_named(std::string_view name) {
  for (const SequenceKind kind : {SequenceKind::numbers, SequenceKind::bytes, SequenceKind::text, SequenceKind::sets}) {
    if (name_of(kind) == name) return kind;
  }
  throw nb::value_error(fmt::format("kind must be text, bytes, numbers or sets, not \"{}\"", name).c_str());
}

SequenceSet make_set(const nb::list& objects, const std::string& kind, const std::string& what) {
  SequenceSet set(kind_named(kind));
  std::vector<std::uint32_t> items;
  std::size_t row = 0;
  for (const nb::handle value : objects) {
    switch (set.kind()) {
      case SequenceKind::text:
        add_text(set, value, what, row);
        break;
      case SequenceKind::bytes:
        add_bytes(set, value, what, row);
        break;
      default:
        add_items(set, value, what, row, items);
    }
    ++row;
  }
  return set;
}

/// A str of these code points. The byte order is named: otherwise a first U+FEFF would be taken for a mark of it.
nb::object text_of(std::span<const std::uint32_t> letters) {
  int order = std::endian::native == std::endian::little ? -1 : 1;
  PyObject* text = PyUnicode_DecodeUTF32(reinterpret_cast<const char*>(letters.data()),
                                         static_cast<Py_ssize_t>(letters.size_bytes()), nullptr, &order);
  if (text == nullptr) throw nb::python_error();
  return nb::steal(text);
}

nb::object python_object(SequenceView sequences, std::uint64_t i) {
  const std::span<const std::uint32_t> items = sequences.sequence(i);
  switch (sequences.kind()) {
    case SequenceKind::text:
      return text_of(items);
    case SequenceKind::bytes: {
      std::string bytes(items.size(), '\0');
      std::transform(items.begin(), items.end(), bytes.begin(), [](std::uint32_t item) { return char(item); });
      return nb::bytes(bytes.data(), bytes.size());
    }
    case SequenceKind::sets: {
      nb::set members;
      for (const std::uint32_t item : items) members.add(item);
      return members;
    }
    default: {
      nb::list numbers;
      for (const std::uint32_t item : items) numbers.append(item);
      return numbers;
    }
  }
}

nb::tuple read_sequences(const std::string& path, const std::string& format, const std::string& kind,
                         const std::string& text_column, std::uint32_t shingle, bool words, nb::object progress) {
  Watch watch(std::move(progress));
  io::SequenceReadOptions options;
  options.format = io::parse_sequence_format(format);
  options.kind = kind_named(kind);
  options.text_column = text_column;
  options.shingle = shingle;
  options.words = words;
  options.progress = watch.callback();
  const io::SequenceFile file = watch.run([&] { return io::read_sequences(path, options); });
  const nb::list strings = file.strings ? python_objects(file.strings->view()) : nb::list();
  return nb::make_tuple(python_objects(file.view()), file.names, std::string(io::name_of(file.format)),
                        with_arguments(file.notes), strings);
}

}  // namespace

nb::list python_objects(SequenceView sequences) {
  nb::list objects;
  for (std::uint64_t i = 0; i < sequences.size(); ++i) objects.append(python_object(sequences, i));
  return objects;
}

void bind_sequences(nb::module_& module) {
  nb::class_<SequenceSet>(module, "Sequences")
      .def_static("make", &make_set, "objects"_a, "kind"_a, "what"_a)
      .def_prop_ro("size", &SequenceSet::size);
  module.def("read_sequences", &read_sequences, "path"_a, nb::kw_only(), "format"_a = "auto", "kind"_a = "text",
             "text_column"_a = "", "shingle"_a = 0, "words"_a = false, "progress"_a = nb::none());
}

}  // namespace kith::python
