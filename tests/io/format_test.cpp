// Names of formats, what extensions say, and how a file is recognised or refused by its content.
#include "io/recognize/recognize.hpp"
#include "io/text/text_input.hpp"
#include "support/temporary_path.hpp"

#include <kith/io/format.hpp>

#include <zlib.h>

#include <filesystem>
#include <fstream>

namespace kith {
namespace {

using namespace std::string_literals;
using io::Format;
using testing_text::memory_file;
using testing_text::message_of;

constexpr Format kFormats[] = {Format::automatic, Format::text, Format::npy,   Format::npz,    Format::ply,
                               Format::pcd,       Format::las,  Format::fvecs, Format::bvecs,  Format::ivecs,
                               Format::idx,       Format::pdb,  Format::gro,   Format::extxyz, Format::lammps,
                               Format::vtk,       Format::raw};

TEST(FormatNames, EachParsesBack) {
  for (const Format format : kFormats) EXPECT_EQ(io::parse_format(io::name_of(format)), format);
  for (const std::string name : {"csv", "tsv", "xyz"}) EXPECT_EQ(io::parse_format(name), Format::text);
  EXPECT_EQ(message_of<UsageError>([] { io::parse_format("doc"); }),
            "\"doc\" is not a file format; give one of auto, text, csv, tsv, xyz, npy, npz, ply, pcd, las, fvecs, "
            "bvecs, ivecs, "
            "idx, pdb, gro, extxyz, lammps, vtk, raw");
  EXPECT_EQ(io::format_names().front(), "auto");
  for (const std::string_view name : io::format_names()) EXPECT_NO_THROW(io::parse_format(name));
  EXPECT_THROW(io::parse_format(""), UsageError);
}

TEST(FormatOfExtension, KnownOnes) {
  const std::pair<const char*, Format> cases[] = {{"a.csv", Format::text},
                                                  {"dir.npy/a.tsv", Format::text},
                                                  {"a.txt", Format::text},
                                                  {"a.xyz", Format::text},
                                                  {"a.data", Format::text},
                                                  {"A.CSV", Format::text},
                                                  {"a.csv.gz", Format::text},
                                                  {"a.npy", Format::npy},
                                                  {"a.npz", Format::npz},
                                                  {"a.b.ply", Format::ply},
                                                  {"a.pcd", Format::pcd},
                                                  {"a.las", Format::las},
                                                  {"a.laz", Format::las},
                                                  {"a.fvecs", Format::fvecs},
                                                  {"a.bvecs", Format::bvecs},
                                                  {"a.ivecs.gz", Format::ivecs},
                                                  {"a.idx", Format::idx},
                                                  {"a.pdb", Format::pdb},
                                                  {"a.ENT.gz", Format::pdb},
                                                  {"a.gro", Format::gro},
                                                  {"a.vtu", Format::vtk},
                                                  {"a.csv.zst", Format::text},
                                                  {"t10k-images-idx3-ubyte.gz", Format::idx},
                                                  {"train-labels.idx1-ubyte", Format::idx},
                                                  {"a", Format::automatic},
                                                  {"", Format::automatic},
                                                  {"a.", Format::automatic},
                                                  {".csv", Format::automatic},
                                                  {"a.csv/b", Format::automatic},
                                                  {"a.unknown", Format::automatic},
                                                  {"-", Format::automatic},
                                                  {"idx-ubyte", Format::automatic},
                                                  {"csv", Format::automatic}};
  for (const auto& [path, format] : cases) EXPECT_EQ(io::format_of_extension(path), format) << path;
}

Format recognized(const std::string& content, const std::string& name = "file") {
  return io::recognize(memory_file(content, name));
}

TEST(Recognize, ByContentWhateverTheName) {
  for (const std::string name : {"file", "file.csv", "file.ply", "file.las"}) {
    SCOPED_TRACE(name);
    EXPECT_EQ(recognized("\x93NUMPY\x01\0v\0{"s, name), Format::npy);
    EXPECT_EQ(recognized("ply\nformat ascii 1.0\n", name), Format::ply);
    EXPECT_EQ(recognized("ply\r\nformat ascii 1.0\r\n", name), Format::ply);
    EXPECT_EQ(recognized("LASF\0\0\0\0"s, name), Format::las);
    EXPECT_EQ(recognized("# .PCD v.7 - Point Cloud Data\nVERSION .7\n", name), Format::pcd);
    EXPECT_EQ(recognized("VERSION .7\nFIELDS x y z\nSIZE 4 4 4\n", name), Format::pcd);
    EXPECT_EQ(recognized("# note\nFIELDS x y z\nSIZE 4 4 4\n", name), Format::pcd);
    EXPECT_EQ(recognized("\0\0\x08\x02\0\0\0\x01\0\0\0\x02\x07\x08"s, name), Format::idx);
  }
  const std::string zip = "PK\x03\x04" + std::string(22, '\0') + "\x05\0\0\0"s;
  EXPECT_EQ(recognized(zip + "a.npy...", "file"), Format::npz);
  EXPECT_EQ(recognized(zip + "a.txt...", "file.npz"), Format::npz);
}

TEST(Recognize, ByExtensionWhereContentSaysNothing) {
  EXPECT_EQ(recognized("1,2\n", "a.csv"), Format::text);
  EXPECT_EQ(recognized("1,2\n", "a"), Format::text);
  EXPECT_EQ(recognized("ply\nlike vectors", "a.fvecs"), Format::fvecs);
  EXPECT_EQ(recognized("\x02\0\0\0"s, "a.bvecs"), Format::bvecs);
  EXPECT_EQ(recognized("\x02\0\0\0"s, "a.ivecs"), Format::ivecs);
  EXPECT_EQ(recognized("\0\0\x08\x01\0\0\0\x63\x07"s, "train-labels-idx1-ubyte"), Format::idx);
  EXPECT_EQ(recognized("", "a"), Format::text);
}

TEST(Recognize, WordsThatOnlyLookLikeAnotherFormat) {
  EXPECT_EQ(recognized("ply,x,y\n1,2,3\n"), Format::text);
  EXPECT_EQ(recognized("VERSION x y\n1 2 3\n"), Format::text);
  EXPECT_EQ(recognized("# FIELDS x y z\n1 2 3\n"), Format::text);
}

TEST(Recognize, UnknownBinaryFiles) {
  const std::string message = message_of<CorruptFile>([] { recognized("\x7F\x7F\x01\x02\x03\0\0"s); });
  EXPECT_EQ(message,
            "file: is a binary file of a kind that is not known (byte 5 is NUL); CSV and other text, NPY, NPZ, PLY, "
            "PCD, LAS, fvecs, bvecs, ivecs, IDX, PDB, GRO, XYZ, LAMMPS and VTK are read, and plain numbers if you say "
            "which: `layout=f32 x,y,z`");
  EXPECT_NE(message_of<CorruptFile>([] {
              recognized("\x9a\x99\x99\x3f\x01\x04\x33\xbf"s);
            }).find("(byte 4 is a control character)"),
            std::string::npos);
  EXPECT_EQ(recognized("1,2,\x1b[31mred\x1b[0m\x01 and much more text that is longer than twenty characters\n"),
            Format::text);
  // IDX whose sizes do not fit the file is no IDX, and a named text file is the text reader's to refuse.
  EXPECT_THROW(recognized("\0\0\x08\x01\0\0\0\x63\x07"s), CorruptFile);
  EXPECT_EQ(recognized("1,\0\n"s, "a.csv"), Format::text);
}

TEST(Recognize, ExtensionAndContentDisagree) {
  for (const std::string name : {"a.npy", "a.npz", "a.ply", "a.pcd", "a.las", "a.laz"}) {
    const std::string message = message_of<CorruptFile>([&] { recognized("1,2\n3,4\n", name); });
    EXPECT_NE(message.find("does not begin as such a file does"), std::string::npos) << message;
  }
}

TEST(ReadPoints, AnExplicitFormatWins) {
  const runtime::InputFile text = memory_file("1,2\n3,4\n", "a.npy");
  EXPECT_EQ(io::read_points(text, {.format = Format::text}).points.rows(), 2u);
  EXPECT_THROW(io::read_points(memory_file("1,2\n", "a.csv"), {.format = Format::npy}), CorruptFile);
}

TEST(ReadPoints, Utf16AndEmptyFilesAreNamed) {
  EXPECT_NE(
      message_of<CorruptFile>([] { io::read_points(memory_file("\xFF\xFE\x31\0,\0\x32\0"s, "a"), {}); }).find("UTF-16"),
      std::string::npos);
  EXPECT_NE(message_of<BadData>([] { io::read_points(memory_file("", "a"), {}); }).find("holds no points"),
            std::string::npos);
}

TEST(ReadPoints, GzippedText) {
  const std::filesystem::path path = test::temporary_path("format_test.csv.gz");
  gzFile file = gzopen(path.c_str(), "wb");
  ASSERT_NE(file, nullptr);
  gzputs(file, "x,y\n1,2\n3,4\n");
  gzclose(file);
  const io::PointFile points = io::read_points(path.string());
  EXPECT_EQ(testing_text::values_of(points), (std::vector<double>{1, 2, 3, 4}));
  std::filesystem::remove(path);
}

/// "x,y\n1,2\n3,4\n", compressed by zstd. A build without libzstd refuses it by name.
TEST(ReadPoints, TextCompressedByZstd) {
  const std::string bytes =
      "\x28\xB5\x2F\xFD\x04\x58\x61\x00\x00\x78\x2C\x79\x0A\x31\x2C\x32\x0A\x33\x2C\x34\x0A\x59\x35\x53\xE4"s;
  const std::filesystem::path path = test::temporary_path("format_test.csv.zst");
  const auto write = [&](const std::string& content) { std::ofstream(path, std::ios::binary) << content; };
  write(bytes);
  try {
    EXPECT_EQ(testing_text::values_of(io::read_points(path.string())), (std::vector<double>{1, 2, 3, 4}));
  } catch (const CorruptFile& error) {
    ASSERT_NE(std::string(error.what()).find("has no libzstd; decompress it first: zstd -d"), std::string::npos)
        << error.what();
    return;
  }
  write(bytes + bytes);  // two frames are one file
  EXPECT_EQ(runtime::InputFile(path.string()).head(64), "x,y\n1,2\n3,4\nx,y\n1,2\n3,4\n");
  for (std::size_t length = 4; length < bytes.size(); ++length) {
    write(bytes.substr(0, length));
    EXPECT_NE(message_of<CorruptFile>([&] { io::read_points(path.string()); }).find("zstd stream"), std::string::npos);
  }
  std::string damaged = bytes;
  damaged[12] ^= 1;
  write(damaged);
  EXPECT_NE(message_of<CorruptFile>([&] { io::read_points(path.string()); }).find("is damaged"), std::string::npos);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace kith
