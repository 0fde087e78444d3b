// Feeds arbitrary bytes to the readers of PDB, GRO, XYZ and LAMMPS; the size of the input chooses which.
#include "fuzz_reader.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using kith::io::Format;
  constexpr Format kFormats[] = {Format::pdb, Format::gro, Format::extxyz, Format::lammps};
  return kith::fuzz::feed_points(data, size, "fuzz",
                                 [&](const kith::runtime::InputFile& file, kith::io::ReadOptions options) {
                                   options.format = kFormats[size % 4];
                                   if (size % 5 == 2) options.columns.clear();
                                   if (size % 11 == 1) options.label = "name";
                                   return kith::io::read_points(file, options);
                                 });
}
