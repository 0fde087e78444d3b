// See foreign_file.hpp: the table of magic bytes, each with the name of its kind and a command that converts it.
#include "io/recognize/foreign_file.hpp"

#include <algorithm>
#include <cstddef>

namespace kith::io::inline v0 {
namespace {

using namespace std::string_view_literals;

struct Magic {
  std::string_view bytes;
  ForeignKind kind;
  std::size_t offset = 0;
  bool is_a_word = false;  ///< a column could be called so: a control character must follow somewhere
};

bool holds_control_characters(std::string_view head) {
  return std::ranges::any_of(head, [](unsigned char c) { return c < '\t'; });
}

constexpr std::string_view kToCsv = "$ libreoffice --headless --convert-to csv {}";
constexpr std::string_view kImage =
    "$ python3 -c \"import numpy, PIL.Image; numpy.save('out.npy', "
    "numpy.asarray(PIL.Image.open('{}').convert('RGB')).reshape(-1, 3))\" makes a row of each pixel";
constexpr std::string_view kFeather =
    "$ python3 -c \"import pandas; pandas.read_feather('{}').to_csv('out.csv', index=False)\"";
constexpr std::string_view kNetCdf =
    "$ python3 -c \"import xarray; xarray.open_dataset('{}').to_dataframe().to_csv('out.csv')\"";
constexpr std::string_view kMatlab =
    "$ python3 -c \"import numpy, scipy.io; numpy.save('out.npy', scipy.io.loadmat('{}')['NAME'])\"";
constexpr std::string_view kTrajectory = "$ gmx trjconv -f {} -s topol.tpr -o out.gro, and read that";
constexpr std::string_view kWebPage = "was the download a link to a page?";

constexpr Magic kTable[] = {
    // arrays and tables
    {"\x89HDF\r\n\x1a\n"sv,
     {"an HDF5 file",
      "$ python3 -c \"import h5py, numpy; numpy.save('out.npy', h5py.File('{}')['NAME'][:])\", where h5ls lists the "
      "names"}},
    {"PAR1"sv,
     {"a Parquet table", "$ python3 -c \"import pandas; pandas.read_parquet('{}').to_csv('out.csv', index=False)\""}},
    {"ARROW1"sv, {"an Arrow (Feather) table", kFeather}},
    {"FEA1"sv, {"a Feather table", kFeather}, 0, true},
    {"ORC"sv,
     {"an ORC table", "$ python3 -c \"import pandas; pandas.read_orc('{}').to_csv('out.csv', index=False)\""},
     0,
     true},
    {"Obj\x01"sv,
     {"an Avro table",
      "$ python3 -c \"import fastavro, pandas; pandas.DataFrame(fastavro.reader(open('{}', 'rb'))).to_csv('out.csv', "
      "index=False)\""}},
    {"CDF\x01"sv, {"a NetCDF file", kNetCdf}},
    {"CDF\x02"sv, {"a NetCDF file", kNetCdf}},
    {"CDF\x05"sv, {"a NetCDF file", kNetCdf}},
    {"MATLAB 5.0"sv, {"a MATLAB file", kMatlab}},
    {"MATLAB 7.3"sv,
     {"a MATLAB file (HDF5)",
      "$ python3 -c \"import h5py, numpy; numpy.save('out.npy', h5py.File('{}')['NAME'][:].T)\""}},
    {"SQLite format 3\0"sv,
     {"an SQLite database",
      "$ sqlite3 -header -csv {} 'select * from TABLE' > out.csv, where .tables lists the names"}},
    {"RDX2\n"sv, {"an R workspace", "in R: load('{}'); write.csv(NAME, 'out.csv', row.names = FALSE)"}},
    {"RDX3\n"sv, {"an R workspace", "in R: load('{}'); write.csv(NAME, 'out.csv', row.names = FALSE)"}},
    {"X\n\0\0\0"sv, {"an R object", "$ Rscript -e \"write.csv(readRDS('{}'), 'out.csv', row.names = FALSE)\""}},
    {"SIMPLE  ="sv,
     {"a FITS file", "$ python3 -c \"from astropy.table import Table; Table.read('{}').write('out.csv')\""}},
    {"root"sv,
     {"a ROOT file",
      "$ python3 -c \"import uproot; uproot.open('{}')['TREE'].arrays(library='pd').to_csv('out.csv')\""},
     0,
     true},
    {"\xD0\xCF\x11\xE0\xA1\xB1\x1A\xE1"sv, {"an old Excel or Office document", kToCsv}},
    {"%%MatrixMarket"sv,
     {"a Matrix Market file",
      "$ python3 -c \"import numpy, scipy.io; m = scipy.io.mmread('{}'); numpy.save('out.npy', getattr(m, 'toarray', "
      "lambda: m)())\""}},
    // scans, meshes, maps
    {"ASTM-E57"sv,
     {"an E57 scan",
      "$ python3 -c \"import numpy, pye57; d = pye57.E57('{}').read_scan(0, ignore_missing_fields=True); "
      "numpy.save('out.npy', numpy.column_stack([d['cartesian' + a] for a in 'XYZ']))\""}},
    {"\0\0\x27\x0a"sv, {"a shapefile", "$ ogr2ogr -f CSV out.csv {} -lco GEOMETRY=AS_XY"}},
    {"glTF"sv,
     {"a glTF mesh", "$ python3 -c \"import trimesh; trimesh.load('{}', force='mesh').export('out.ply')\""},
     0,
     true},
    {"#ROSBAG"sv, {"a ROS bag", "$ rosrun pcl_ros bag_to_pcd {} TOPIC FOLDER"}},
    {"\x89MCAP0"sv, {"an MCAP recording", "export its clouds as PCD or PLY"}},
    // molecules
    {"\0\0\x07\xCB"sv, {"a GROMACS trajectory (XTC)", kTrajectory}},
    {"\0\0\x07\xC9"sv, {"a GROMACS trajectory (TRR)", kTrajectory}},
    {"T\0\0\0CORD"sv,
     {"a DCD trajectory", "$ python3 -c \"import mdtraj; mdtraj.load('{}', top='top.pdb')[0].save_pdb('out.pdb')\""}},
    {"@<TRIPOS>"sv, {"a MOL2 molecule", "$ obabel {} -O out.xyz"}},
    {"Microsoft C/C++ MSF"sv, {"a program database of Visual Studio, not a protein", "nothing in it is a point"}},
    // images
    {"\x89PNG\r\n\x1a\n"sv, {"a PNG image", kImage}},
    {"\xFF\xD8\xFF"sv, {"a JPEG image", kImage}},
    {"GIF8"sv, {"a GIF image", kImage}, 0, true},
    {"II*\0"sv, {"a TIFF image", kImage}},
    {"MM\0*"sv, {"a TIFF image", kImage}},
    {"DICM"sv,
     {"a DICOM image",
      "$ python3 -c \"import numpy, pydicom; numpy.save('out.npy', pydicom.dcmread('{}').pixel_array)\""},
     128},
    {"n+1\0"sv,
     {"a NIfTI image",
      "$ python3 -c \"import nibabel, numpy; numpy.save('out.npy', nibabel.load('{}').get_fdata()"
      ".reshape(-1, 1))\" makes a row of each voxel"},
     344},
    {"%PDF-"sv, {"a PDF document", "$ pdftotext -layout {} out.txt, and keep the table"}},
    // archives and compression
    {"\xFD\x37zXZ\0"sv, {"compressed with xz", "decompress it first: xz -dk {}"}},
    {"\x28\xB5\x2F\xFD"sv, {"compressed with zstd", "decompress it first: zstd -d {}"}},
    {"BZh"sv, {"compressed with bzip2", "decompress it first: bzip2 -dk {}"}},
    {"\x04\x22\x4D\x18"sv, {"compressed with lz4", "decompress it first: lz4 -d {}"}},
    {"7z\xBC\xAF\x27\x1C"sv, {"a 7z archive", "unpack it first: 7z x {}"}},
    {"Rar!\x1A\x07"sv, {"a RAR archive", "unpack it first: unrar x {}"}},
    {"ustar"sv, {"a tar archive", "unpack it first: tar xf {}"}, 257},
    // others
    {"\x89KITH\r\n\x1a"sv,
     {"a kith index, not a file of points", "name its file, not a pipe, where an index is taken"}},
    {"\x7F"
     "ELF"sv,
     {"a program or library", "nothing in it is a point"}},
    {"<!DOCTYPE"sv, {"a web page, not data", kWebPage}},
    {"<!doctype"sv, {"a web page, not data", kWebPage}},
    {"<html"sv, {"a web page, not data", kWebPage}},
};

}  // namespace

std::optional<ForeignKind> foreign_by_magic(std::string_view head) {
  for (const Magic& magic : kTable) {
    if (head.size() < magic.offset || !head.substr(magic.offset).starts_with(magic.bytes)) continue;
    if (!magic.is_a_word || holds_control_characters(head)) return magic.kind;
  }
  return std::nullopt;
}

}  // namespace kith::io::inline v0
