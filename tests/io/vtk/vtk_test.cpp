// VTK: legacy text and binary, XML in every encoding, point data as columns, cells stepped over, damage.
#include "io/binary_input.hpp"

#include <zlib.h>

namespace kith::io::test {
namespace {

using namespace std::string_literals;
using Values = std::vector<double>;
using Names = std::vector<std::string>;

PointFile read_vtk(const runtime::InputFile& file, const ReadOptions& options) { return read_points(file, options); }

const Values kPoints = {0.5, 1, 2, 3, 4, -5};

const std::string kAscii =
    "# vtk DataFile Version 3.0\ntwo points\nASCII\nDATASET POLYDATA\nFIELD FieldData 1\nTIME 1 1 double\n1.5\n"
    "POINTS 2 float\n0.5 1 2 3\n4 -5\nMETADATA\nINFORMATION 0\n\nVERTICES 2 4\n1 0\n1 1\n"
    "CELL_DATA 2\nSCALARS cell float 1\nLOOKUP_TABLE default\n7 8\n"
    "POINT_DATA 2\nSCALARS class int\nLOOKUP_TABLE default\n30 40\nNORMALS my%20n double\n0 0 1 0.25 0 0\n"
    "FIELD FieldData 1\nq 2 2 unsigned_char\n1 2 3 255\n";

TEST(VtkLegacy, AsciiPointsAndPointData) {
  const PointFile file = read_bytes(read_vtk, kAscii, {.label = "class", .extras = {"my n_x", "q_2"}});
  EXPECT_EQ(file.format, Format::vtk);
  EXPECT_EQ(file.points.dtype(), DType::f32);
  EXPECT_EQ(values_of(file), kPoints);
  EXPECT_EQ(file.columns, (Names{"x", "y", "z"}));
  EXPECT_EQ(file.labels->names, (Names{"30", "40"}));
  EXPECT_EQ(file.extras.view().at(1, 0), 0.25);
  EXPECT_EQ(file.extras.view().at(1, 1), 255);
  expect_error<UsageError>(read_vtk, kAscii, "no column \"cell\"", {.label = "cell"});
  expect_survives_damage(read_vtk, kAscii, false);
}

TEST(VtkLegacy, NumbersOfTextAreRoundedOnce) {
  const PointFile file = read_bytes(
      read_vtk,
      "# vtk DataFile Version 2.0\n\nASCII\nDATASET POLYDATA\nPOINTS 1 float\n0.1 1.00000017881393432617187 nan\n");
  EXPECT_EQ(file.points.values<float>()[0], 0.1f);
  EXPECT_EQ(file.points.values<float>()[1], 1.00000017881393432617187f);
}

std::string binary(bool with_offsets) {
  Bytes bytes("# vtk DataFile Version "s + (with_offsets ? "5.1" : "3.0") +
              "\nbinary\nBINARY\nDATASET UNSTRUCTURED_GRID\nPOINTS 2 double\n");
  for (const double value : kPoints) bytes.be(value);
  if (with_offsets) {
    bytes.text("\nCELLS 2 1\nOFFSETS vtktypeint64\n").be(std::int64_t{0}).be(std::int64_t{1});
    bytes.text("\nCONNECTIVITY vtktypeint64\n").be(std::int64_t{1});
  } else {
    bytes.text("\nCELLS 1 2\n").be(std::int32_t{1}).be(std::int32_t{0x0a0a0a0a});
  }
  bytes.text("\nCELL_TYPES 1\n")
      .be(std::int32_t{1})
      .text("\nPOINT_DATA 2\nSCALARS class short 1\nLOOKUP_TABLE default\n");
  bytes.be(std::int16_t{-3}).be(std::int16_t{4}).text("\nVECTORS v float\n");
  for (int i = 0; i < 6; ++i) bytes.be(static_cast<float>(i));
  return bytes.text("\n").str();
}

TEST(VtkLegacy, BinaryPointsAndPointData) {
  for (const bool with_offsets : {false, true}) {
    const PointFile file = read_bytes(read_vtk, binary(with_offsets), {.label = "class", .extras = {"v_z"}});
    EXPECT_EQ(file.points.dtype(), DType::f64);
    EXPECT_EQ(values_of(file), kPoints);
    EXPECT_EQ(file.labels->names, (Names{"-3", "4"}));
    EXPECT_EQ(file.extras.view().at(1, 0), 5);
    expect_survives_damage(read_vtk, binary(with_offsets), false);
  }
}

TEST(VtkLegacy, WhatIsWrong) {
  const std::string head = "# vtk DataFile Version 3.0\nt\nASCII\nDATASET POLYDATA\n";
  expect_error<CorruptFile>(read_vtk, head + "POINTS 99999999999 float\n1 2 3\n", "says 99999999999 x 3 values");
  expect_error<CorruptFile>(read_vtk, head + "POINTS 2 float\n1.5 2.5 3.5\n4\n", "values are missing");
  expect_error<CorruptFile>(read_vtk, head + "POINTS 1 float\n1 2 3 4\n", "more values than the array");
  expect_error<BadData>(read_vtk, head + "POINTS 1 float\n1 two 3\n", "line 6: \"two\" is not a number of type f32");
  expect_error<CorruptFile>(read_vtk, head + "POINTS 1 quad\n1 2 3\n", "\"quad\" are not read");
  expect_error<CorruptFile>(read_vtk, head + "POINTS 1 float\n1 2 3\nPOINT_DATA 2\n",
                            "POINT_DATA of 2 points, but there are 1");
  expect_error<CorruptFile>(read_vtk, head + "POINTS 1 float\n1 2 3\nNONSENSE\n", "\"NONSENSE\" is not a keyword");
  expect_error<BadData>(read_vtk, head, "it has no POINTS");
  expect_error<CorruptFile>(read_vtk, "# vtk DataFile Version 3.0\nt\nASCII\nDATASET STRUCTURED_POINTS\n",
                            "is a VTK grid");
  expect_error<CorruptFile>(read_vtk, "# vtk DataFile Version 3.0\nt\nHTML\n", "neither ASCII nor BINARY");
}

std::string base64(const std::string& bytes) {
  const char* const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (std::size_t k = 0; k < 4; ++k) text += i + k > bytes.size() ? '=' : digits[group >> (18 - 6 * k) & 63];
  }
  return text;
}

/// How a file of the same two points and two arrays is written.
struct Encoding {
  const char* format;  // ascii, binary or appended
  bool big_endian = false;
  bool wide = false;
  bool compressed = false;
  bool raw = false;
};

std::string length_of(std::uint64_t value, const Encoding& e) {
  Bytes bytes;
  e.wide ? bytes.put(value, e.big_endian) : bytes.put(static_cast<std::uint32_t>(value), e.big_endian);
  return bytes.str();
}

/// Lengths, data: separate, because base64 pads each when it is compressed.
std::pair<std::string, std::string> stored(const std::string& data, const Encoding& e) {
  if (!e.compressed) return {"", length_of(data.size(), e) + data};
  const std::size_t block = data.size() > 20 ? 16 : data.size();  // two blocks where there is enough
  std::string lengths =
      length_of((data.size() + block - 1) / block, e) + length_of(block, e) + length_of(data.size() % block, e);
  std::string packed;
  for (std::size_t at = 0; at < data.size(); at += block) {
    const std::string part = data.substr(at, block);
    uLongf size = compressBound(static_cast<uLong>(part.size()));
    std::string out(size, '\0');
    compress(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(part.data()),
             static_cast<uLong>(part.size()));
    lengths += length_of(size, e);
    packed += out.substr(0, size);
  }
  return {lengths, packed};
}

std::string xml_file(const Encoding& e) {
  Bytes points;
  for (const double value : kPoints) points.put(static_cast<float>(value), e.big_endian);
  Bytes classes;
  for (const std::int64_t value : {-3, 4}) classes.put(value, e.big_endian);
  std::string appended;
  const auto array = [&](const std::string& attributes, const std::string& text, const std::string& data) {
    std::string tag = "<DataArray " + attributes + " format=\"" + e.format + "\"";
    if (e.format == "ascii"s) return tag + ">\n" + text + "\n</DataArray>\n";
    const auto [lengths, content] = stored(data, e);
    const std::string bytes = e.raw ? lengths + content : base64(lengths) + base64(content);
    if (e.format == "binary"s) return tag + ">\n  " + bytes + "\n</DataArray>\n";
    tag += " offset=\"" + std::to_string(appended.size()) + "\"/>\n";
    appended += bytes;
    return tag;
  };
  std::string file =
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\""s +
      (e.big_endian ? "Big" : "Little") + "Endian\" header_type=\"" + (e.wide ? "UInt64" : "UInt32") + "\"" +
      (e.compressed ? " compressor=\"vtkZLibDataCompressor\"" : "") +
      ">\n<!-- <Points> --><UnstructuredGrid><Piece NumberOfPoints=\"2\" NumberOfCells=\"0\">\n<PointData>\n";
  file += array("type=\"Int64\" Name=\"class\"", "-3 4", classes.str());
  file += "</PointData><CellData></CellData><Points>\n";
  file += array("type=\"Float32\" Name=\"Points\" NumberOfComponents=\"3\"", "0.5 1 2\n3 4 -5", points.str());
  file += "</Points></Piece></UnstructuredGrid>\n";
  if (e.format == "appended"s)
    file += "<AppendedData encoding=\""s + (e.raw ? "raw" : "base64") + "\">\n _" + appended + "\n</AppendedData>\n";
  return file + "</VTKFile>\n";
}

TEST(VtkXml, EveryEncoding) {
  std::vector<Encoding> encodings = {{"ascii"}, {"ascii", true}};
  for (const bool big_endian : {false, true}) {
    for (const bool wide : {false, true}) {
      for (const bool compressed : {false, true}) {
        encodings.push_back({"binary", big_endian, wide, compressed});
        encodings.push_back({"appended", big_endian, wide, compressed, false});
        encodings.push_back({"appended", big_endian, wide, compressed, true});
      }
    }
  }
  for (const Encoding& e : encodings) {
    SCOPED_TRACE(testing::Message() << e.format << e.big_endian << e.wide << e.compressed << e.raw);
    const PointFile file = read_bytes(read_vtk, xml_file(e), {.label = "class"});
    EXPECT_EQ(file.format, Format::vtk);
    EXPECT_EQ(file.points.dtype(), DType::f32);
    EXPECT_EQ(values_of(file), kPoints);
    EXPECT_EQ(file.labels->names, (Names{"-3", "4"}));
  }
}

TEST(VtkXml, SurvivesDamage) {
  const Encoding encodings[] = {
      {"ascii"}, {"binary", false, false, true}, {"appended"}, {"appended", true, true, true, true}};
  for (const Encoding& e : encodings) expect_survives_damage(read_vtk, xml_file(e), false);
}

TEST(VtkXml, SeveralPieces) {
  std::string file = xml_file({"ascii"});
  const std::size_t begin = file.find("<Piece");
  const std::size_t end = file.find("</Piece>") + 8;
  file.insert(end, file.substr(begin, end - begin));
  EXPECT_EQ(values_of(read_bytes(read_vtk, file)), (Values{.5, 1, 2, 3, 4, -5, .5, 1, 2, 3, 4, -5}));
  file.replace(file.rfind("class"), 5, "other");
  const PointFile lacking = read_bytes(read_vtk, file);
  ASSERT_EQ(lacking.notes.size(), 1u);
  EXPECT_NE(lacking.notes[0].find("not in every piece"), std::string::npos);
}

TEST(VtkXml, WhatIsWrong) {
  const auto changed = [](const Encoding& e, const std::string& from, const std::string& to) {
    std::string file = xml_file(e);
    file.replace(file.find(from), from.size(), to);
    return file;
  };
  expect_error<CorruptFile>(read_vtk, changed({"ascii"}, "\"2\"", "\"3\""), "values are missing");
  expect_error<CorruptFile>(read_vtk, changed({"ascii"}, "\"2\"", "\"1\""), "more values than there are points");
  expect_error<CorruptFile>(read_vtk, changed({"binary"}, "\"2\"", "\"99999999999\""), "bytes are needed");
  expect_error<CorruptFile>(read_vtk, changed({"binary", false, false, true}, "\"2\"", "\"99999999999\""),
                            "bytes are needed");
  expect_error<CorruptFile>(read_vtk, changed({"binary", false, false, true}, "vtkZLib", "vtkLZ4"), "is compressed by");
  expect_error<CorruptFile>(read_vtk, changed({"ascii"}, "\"UnstructuredGrid\"", "\"ImageData\""), "lists no points");
  expect_error<CorruptFile>(read_vtk, changed({"ascii"}, "\"UnstructuredGrid\"", "\"PUnstructuredGrid\""),
                            "files of their own");
  expect_error<BadData>(read_vtk, changed({"ascii"}, "0.5 1 2", "0.5 one 2"), "\"one\" is not a number of type f32");
  expect_error<BadData>(read_vtk, "<VTKFile type=\"PolyData\"></VTKFile>", "no <Piece>");
  expect_error<CorruptFile>(read_vtk, std::string(1000, '\0'), "byte 0 is NUL", {.format = Format::vtk});
  const std::string raw = xml_file({"appended", false, false, false, true});
  expect_error<CorruptFile>(read_vtk, raw.substr(0, raw.find("<AppendedData")), "there is no <AppendedData>");
}

}  // namespace
}  // namespace kith::io::test
