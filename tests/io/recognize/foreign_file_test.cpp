// Files of other programs are named for what they are, with the command that converts them; what only looks like them
// is read.
#include "io/recognize/recognize.hpp"
#include "io/text/text_input.hpp"

#include <bit>
#include <cstdint>
#include <cstring>

namespace kith {
namespace {

using namespace std::string_literals;
using io::Format;
using testing_text::memory_file;
using testing_text::message_of;

std::string refusal(const std::string& content, const std::string& name = "file.csv") {
  return message_of<CorruptFile>([&] { io::recognize(memory_file(content, name)); });
}

std::string bytes_of(std::uint32_t value) {
  std::string bytes(4, '\0');
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = static_cast<char>(value >> 8 * i);
  return bytes;
}

std::string fortran_record(const std::string& content) {
  const std::string marker = bytes_of(static_cast<std::uint32_t>(content.size()));
  return marker + content + marker;
}

TEST(ForeignFile, IsNamedWithACommand) {
  const std::string zip = "PK\x03\x04" + std::string(26, '\0');
  struct Case {
    std::string content;
    const char* name;
    const char* advice;
  };
  const Case cases[] = {
      {"\x89HDF\r\n\x1a\n...", "an HDF5 file", "h5py.File('file.csv')"},
      {"PAR1....", "a Parquet table", "pandas.read_parquet('file.csv').to_csv('out.csv'"},
      {"ARROW1\0\0"s, "an Arrow (Feather) table", "read_feather"},
      {"FEA1\0\0"s, "a Feather table", "read_feather"},
      {"CDF\x01\0"s, "a NetCDF file", "xarray"},
      {"MATLAB 5.0 MAT-file", "a MATLAB file", "scipy.io.loadmat"},
      {"SQLite format 3\0"s, "an SQLite database", "sqlite3 -header -csv file.csv"},
      {"ASTM-E57\x01", "an E57 scan", "pye57"},
      {"%PDF-1.7\n", "a PDF document", "pdftotext"},
      {"\x89KITH\r\n\x1a...", "a kith index", "name its file"},
      {"\x89PNG\r\n\x1a\n", "a PNG image", "PIL.Image"},
      {"\xFF\xD8\xFF\xE0", "a JPEG image", "PIL.Image"},
      {std::string(128, '\0') + "DICM", "a DICOM image", "pydicom"},
      {"\xFD\x37zXZ\0..."s, "compressed with xz", "xz -dk file.csv"},
      {"\x28\xB5\x2F\xFD...", "compressed with zstd", "zstd -d"},
      {"BZh91AY", "compressed with bzip2", "bzip2 -dk"},
      {"7z\xBC\xAF\x27\x1C", "a 7z archive", "7z x"},
      {"a.csv" + std::string(252, '\0') + "ustar", "a tar archive", "tar xf file.csv"},
      {zip + "a.txt", "a zip archive without NumPy arrays", "unzip file.csv"},
      {zip + "[Content_Types].xml....xl/workbook.xml", "an Excel workbook, which kith does not read",
       "convert it: libreoffice"},
      {zip + "model/data.pkl", "a PyTorch file", "torch.load"},
      {"\x80\x04\x95\x10", "a Python pickle", "pickle.load"},
      {"\0\0\x27\x0a\0\0"s, "a shapefile", "ogr2ogr -f CSV out.csv file.csv"},
      {"{\"type\": \"FeatureCollection\"}", "a GeoJSON map", "ogr2ogr"},
      {"{\"x\": 1}\n{\"x\": 2}\n", "JSON, an object per line, which", "lines=True"},
      {"{\"x\": [1, 2]}\n", "JSON, which kith does not read; convert it: python3", "pandas.read_json"},
      {" [[1, 2],\n [3, 4]]\n", "JSON", "pandas.read_json"},
      {"<!DOCTYPE html>", "a web page", "was the download"},
      {"<?xml version=\"1.0\"?>\n<gpx>", "a GPX track", "ogr2ogr"},
      {">woodmouse\nNTTCGAAAAAC\nACCC\n", "FASTA: strings, not points", "`metric=edit`"},
      {"@read\nACGT\n+\nIIII\n", "FASTQ: strings, not points", "`metric=edit`"},
      {"data_1ABC\n#\n_entry.id 1ABC\n", "a CIF file", "gemmi convert file.csv out.pdb"},
      {"mol\n\n\n  1  0  0  0  0  0            999 V2000\n", "a MOL or SDF molecule", "obabel"},
      {"# mesh\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "an OBJ mesh", "awk"},
      {"solid cube\n facet normal 0 0 1\n", "an STL mesh", "meshio convert"},
      {"OFF\n3 1 0\n", "an OFF mesh", "meshio convert"},
      {"%%MatrixMarket matrix coordinate real general\n2 2 1\n", "a Matrix Market file", "mmread"},
      {"@relation iris\n@attribute x numeric\n@data\n1\n", "an ARFF table", "sed"},
      {fortran_record(std::string(256, '\0')) + fortran_record("abcd"), "a GADGET snapshot", "`layout=fortran skip=1"},
      {fortran_record("HEAD\x08\x01\0\0"s) + "....", "a GADGET snapshot (format 2)", "`layout=fortran skip=3"},
      {fortran_record("\0\0\0\0\0\0\x10\x40"s), "a file of Fortran records", "`layout=fortran f64"},
      {"\x7F"
       "ELF\x02\0"s,
       "a program or library", "nothing"},
  };
  for (const Case& c : cases) {
    const std::string message = refusal(c.content);
    EXPECT_EQ(message.find("file.csv: is "s + c.name), 0u) << c.name << ": " << message;
    EXPECT_NE(message.find(c.advice), std::string::npos) << message;
    EXPECT_EQ(message.find("{}"), std::string::npos) << message;
  }
}

TEST(ForeignFile, NamesThatAShellTakesApartAreNotPutIntoCommands) {
  EXPECT_NE(refusal("PAR1", "my $(rm) file").find("read_parquet('FILE')"), std::string::npos);
  EXPECT_NE(refusal("PAR1", "standard input").find("read_parquet('FILE')"), std::string::npos);
}

TEST(ForeignFile, TextThatOnlyLooksLikeIt) {
  for (const std::string content :
       {"root,ORC\n1,2\n", "GIF8 a\n1 2\n", "[1],[2]\n3,4\n", "{x},{y}\n1,2\n", "v 1 2 3\nw 4 5 6\n",
        "solid x y\n1 2 3\n", "> 1\n2\n", "@x @y\n1 2\n+1 2\n3 4\n", "OFF\n1\n2\n", "data_x,data_y\n1,2\n"}) {
    EXPECT_EQ(io::recognize(memory_file(content, "a")), Format::text) << content;
  }
}

}  // namespace
}  // namespace kith
