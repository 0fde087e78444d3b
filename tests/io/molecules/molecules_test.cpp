// PDB, GRO, XYZ (extended) and LAMMPS: coordinates, columns as labels, frames and models, boxes, damage.
#include "io/binary_input.hpp"
#include "io/recognize/recognize.hpp"
#include "io/records/record_source.hpp"

#include <cmath>

namespace kith::io::test {
namespace {

using namespace std::string_literals;
using Values = std::vector<double>;
using Names = std::vector<std::string>;

/// Through the front door, so that recognition is part of it.
PointFile read_any(const runtime::InputFile& file, const ReadOptions& options) { return read_points(file, options); }

Names label_texts(const PointFile& file) {
  Names texts;
  for (const std::uint32_t code : file.labels->codes) texts.push_back(file.labels->names[code]);
  return texts;
}

Names labels_of(const std::string& content, const std::string& column) {
  return label_texts(read_bytes(read_any, content, {.label = column}));
}

void expect_note(const PointFile& file, std::string_view part) {
  for (const std::string& note : file.notes) {
    if (note.find(part) != std::string::npos) return;
  }
  ADD_FAILURE() << "no note says: " << part;
}

const std::string kPdb =
    "HEADER    HYDROLASE                               01-JAN-00   1ABC\n"
    "ATOM      1  N   MET A   1      27.340  24.430   2.614  1.00  9.67           N  \n"
    "ATOM      2  CA AMET A   1      26.266-125.413   2.842  0.50 10.38           C  \n"
    "ATOM      3  CA BMET A   1      26.913  26.639  -3.531  0.50              C  \n"
    "TER       4      MET A   1\n"
    "HETATM*****  O   HOH B A02      -0.913   0.000 999.999\n"
    "END\n";

TEST(Pdb, CoordinatesAndColumns) {
  const PointFile file = read_bytes(read_any, kPdb);
  EXPECT_EQ(file.format, Format::pdb);
  EXPECT_EQ(file.columns, (Names{"x", "y", "z"}));
  EXPECT_EQ(file.points.dtype(), DType::f64);
  EXPECT_EQ(values_of(file),
            (Values{27.340, 24.430, 2.614, 26.266, -125.413, 2.842, 26.913, 26.639, -3.531, -0.913, 0, 999.999}));
  expect_note(file, "1 atoms are alternate locations");
  EXPECT_EQ(labels_of(kPdb, "name"), (Names{"N", "CA", "CA", "O"}));
  EXPECT_EQ(labels_of(kPdb, "resname"), (Names{"MET", "MET", "MET", "HOH"}));
  EXPECT_EQ(labels_of(kPdb, "chain"), (Names{"A", "A", "A", "B"}));
  EXPECT_EQ(labels_of(kPdb, "record"), (Names{"ATOM", "ATOM", "ATOM", "HETATM"}));
  const PointFile others = read_bytes(read_any, kPdb, {.columns = {"serial", "occupancy"}, .extras = {"bfactor"}});
  EXPECT_EQ(others.view().at(1, 0), 2);
  EXPECT_EQ(others.view().at(2, 1), 0.5);
  EXPECT_TRUE(std::isnan(others.view().at(3, 0)));  // "*****"
  EXPECT_EQ(others.extras.view().at(0, 0), 9.67);
  EXPECT_TRUE(std::isnan(others.extras.view().at(3, 0)));
  // Positions are those of the words of a line.
  EXPECT_EQ(values_of(read_bytes(read_any, kPdb, {.columns = {"7", "8", "9"}})), values_of(file));
}

TEST(Pdb, IsRecognisedByItsHeaderOrAnAtom) {
  const auto recognized = [](const std::string& text) {
    return recognize(runtime::InputFile("file", std::vector<char>(text.begin(), text.end())));
  };
  const std::string header = "HEADER    HYDROLASE, TRANSFERASE                  01-JAN-00   1ABC\n";
  EXPECT_EQ(recognized(header + std::string(5000, ' ') + kPdb), Format::pdb);
  EXPECT_EQ(recognized(kPdb.substr(kPdb.find("ATOM"))), Format::pdb);
  EXPECT_EQ(recognized("HEADER    X Y\n1 2 3\n"), Format::text);
  EXPECT_EQ(recognized("ATOM 1 2 3\nATOM 4 5 6\n"), Format::text);
}

TEST(Pdb, TheFirstOfSeveralModels) {
  const std::string atom = "ATOM      1  N   MET A   1      27.340  24.430   2.614\n";
  for (const std::string& text : {"MODEL        1\n" + atom + "ENDMDL\nMODEL        2\n" + atom + atom + "ENDMDL\n",
                                  atom + "END\n" + atom + "END\n"}) {
    const PointFile file = read_bytes(read_any, text);
    EXPECT_EQ(file.points.rows(), 1u);
    expect_note(file, "holds 2 models; the first is read");
  }
}

TEST(Pdb, WhatIsWrong) {
  const ReadOptions pdb{.format = Format::pdb};
  expect_error<BadData>(read_any, "HEADER\nEND\n", "no ATOM or HETATM record", pdb);
  expect_error<CorruptFile>(read_any, "REMARK\nATOM      1  N   MET A   1      27.340  24.430\n",
                            "line 2: the record of an atom ends before its coordinates", pdb);
  expect_error<BadData>(read_any, "ATOM      1  N   MET A   1    ********  24.430   2.614\n",
                        "line 1: \"********\" of \"x\"", pdb);
  expect_error<UsageError>(read_any, kPdb, "column \"name\" holds text such as \"N\", not numbers",
                           {.columns = {"x", "name"}});
  expect_error<UsageError>(read_any, kPdb, "no column \"colour\"; it has record, serial, name", {.label = "colour"});
  expect_survives_damage(read_any, kPdb, false);
}

const std::string kGro =
    "Water t= 0.0\n    3\n"
    "    1SOL     OW    1   0.230   0.628   0.113  0.1000 -0.2000  0.3000\n"
    "    1SOL    HW1    2   0.137   0.626   0.150  0.0000  0.0000  0.0000\n"
    "    2SOL    HW2    3   0.231   0.589-110.021  0.0000  0.0000  1.0000\n"
    "   1.86206   1.86206   1.86206\n";

TEST(Gro, CoordinatesColumnsAndBox) {
  const PointFile file = read_bytes(read_any, kGro);
  EXPECT_EQ(file.format, Format::gro);
  EXPECT_EQ(values_of(file), (Values{.230, .628, .113, .137, .626, .150, .231, .589, -110.021}));
  expect_note(file, "`period=1.86206,1.86206,1.86206`");
  EXPECT_EQ(labels_of(kGro, "name"), (Names{"OW", "HW1", "HW2"}));
  EXPECT_EQ(labels_of(kGro, "resnr"), (Names{"1", "1", "2"}));
  EXPECT_EQ(values_of(read_bytes(read_any, kGro, {.columns = {"vz"}})), (Values{.3, 0, 1}));
}

TEST(Gro, PrecisionFramesAndOtherBoxes) {
  const std::string precise = "\n1\n    1SOL     OW    1   0.12345   1.23456-999.00001\n 1 2 3 0 0 0.5 0 0 0\n";
  const PointFile file = read_bytes(read_any, precise);
  EXPECT_EQ(values_of(file), (Values{.12345, 1.23456, -999.00001}));
  expect_note(file, "the box is not rectangular");
  expect_note(read_bytes(read_any, kGro + kGro), "holds several frames");
}

TEST(Gro, WhatIsWrong) {
  const ReadOptions gro{.format = Format::gro};
  expect_error<CorruptFile>(read_any, "title\nmany\n", "line 2: \"many\" is not a number of atoms", gro);
  expect_error<CorruptFile>(read_any, "t\n5\n" + kGro.substr(kGro.find("    1SOL")),
                            "atom 4 of the 5 that the second line promises", gro);
  expect_error<BadData>(read_any, "t\n0\n1 1 1\n", "0 atoms", gro);
  expect_survives_damage([&](const runtime::InputFile& file) { read_points(file, gro); }, kGro, false);
}

TEST(ExtendedXyz, PropertiesNameTheColumns) {
  const std::string text =
      "2\nLattice=\"5.5 0 0 0 6 0 0 0 7\" Properties=species:S:1:id:I:1:pos:R:3:force:R:3:q:R:2 pbc=\"T T T\"\n"
      "Na 7 0.5 1 1.5 -1 -2 -3 8 9\nCl 8 2.5 3 3.5 1 2 3 10 1e1\n";
  const PointFile file = read_bytes(read_any, text);
  EXPECT_EQ(file.format, Format::extxyz);
  EXPECT_EQ(values_of(file), (Values{.5, 1, 1.5, 2.5, 3, 3.5}));
  expect_note(file, "`period=5.5,6,7`");
  EXPECT_EQ(labels_of(text, "element"), (Names{"Na", "Cl"}));
  EXPECT_EQ(labels_of(text, "id"), (Names{"7", "8"}));
  EXPECT_EQ(values_of(read_bytes(read_any, text, {.columns = {"force_y", "q_2"}})), (Values{-2, 9, 2, 10}));
  expect_survives_damage(read_any, text, false);
}

TEST(ExtendedXyz, TheFirstOfSeveralFrames) {
  const std::string frame = "2\nstep 1\nH 1 2 3 0.5\nO 4 5 6 0.25\n";
  const PointFile file = read_bytes(read_any, frame + frame + "1\n\nH 0 0 0 0\n");
  EXPECT_EQ(values_of(file), (Values{1, 2, 3, 4, 5, 6}));
  expect_note(file, "holds 3 frames; the first is read");
  EXPECT_EQ(read_bytes(read_any, frame).format, Format::text);  // as ever
  EXPECT_EQ(values_of(read_bytes(read_any, frame)), (Values{1, 2, 3, 4, 5, 6}));
}

TEST(ExtendedXyz, WhatIsWrong) {
  const ReadOptions xyz{.format = Format::extxyz};
  expect_error<CorruptFile>(read_any, "3\n\nH 1 2 3\n", "says 3 atoms, but ends after 1", xyz);
  expect_error<CorruptFile>(read_any, "2\n\nH 1 2 3\nH 1 2\n", "line 4: has 3 fields where an atom has 4", xyz);
  expect_error<BadData>(read_any, "1\n\nH 1 2 z\n", "line 3: \"z\" of \"z\" is not a number", xyz);
  expect_error<CorruptFile>(read_any, "1\nProperties=species:S:1:pos:R:2\nH 1 2\n", "no pos:R:3", xyz);
  expect_error<CorruptFile>(read_any, "1\nProperties=species:S:99999999999\nH 1 2\n", "name:type:columns", xyz);
  expect_error<CorruptFile>(read_any, "x\n\nH 1 2 z\n", "line 1: \"x\" is not a number of atoms", xyz);
}

std::string lammps(const std::string& section, const std::string& atoms) {
  return "LAMMPS data file\n\n2 atoms\n1 bonds\n2 atom types\n\n0 10 xlo xhi\n-5 5.5 ylo yhi\n0 2 zlo "
         "zhi\n\nMasses\n\n1 1.0\n2 2.0\n\n" +
         section + "\n\n" + atoms + "\nVelocities\n\n1 0 0 0\n2 0 0 0\n";
}

TEST(Lammps, DataFilesOfSeveralStyles) {
  const Values expected = {.5, 1.5, 2.5, 3, 4, 5};
  const std::string atomic = lammps("Atoms # atomic", "2 1 0.5 1.5 2.5 # first\n1 2 3 4 5\n");
  const PointFile file = read_bytes(read_any, atomic);
  EXPECT_EQ(file.format, Format::lammps);
  EXPECT_EQ(values_of(file), expected);
  expect_note(file, "`period=10,10.5,2`");
  EXPECT_EQ(labels_of(atomic, "type"), (Names{"1", "2"}));
  const std::pair<std::string, const char*> guesses[] = {
      {"1 1 0.5 1.5 2.5\n2 1 3 4 5\n", "atomic"},
      {"1 1 0.5 1.5 2.5 0 0 -1\n2 1 3 4 5 0 0 0\n", "atomic"},
      {"1 1 -0.8 0.5 1.5 2.5\n2 1 0.4 3 4 5\n", "charge"},
      {"1 1 2 0.5 1.5 2.5\n2 1 1 3 4 5\n", "molecular"},
      {"1 1 2 -0.8 0.5 1.5 2.5 0 1 0\n2 1 1 0.4 3 4 5 0 0 0\n", "full"}};
  for (const auto& [atoms, style] : guesses) {
    const PointFile guessed = read_bytes(read_any, lammps("Atoms", atoms));
    EXPECT_EQ(values_of(guessed), expected) << style;
    expect_note(guessed, "the atom style is taken to be "s + style);
  }
  expect_survives_damage(read_any, atomic, false);
}

TEST(Lammps, Dumps) {
  const std::string dump =
      "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp pp pp\n0 4\n0 5\n-1 5\nITEM: ATOMS id element "
      "x y z vx\n"
      "1 Si 0.5 1.5 2.5 9\n2 O 3 4 5 9\n";
  const PointFile file = read_bytes(read_any, dump + dump);
  EXPECT_EQ(values_of(file), (Values{.5, 1.5, 2.5, 3, 4, 5}));
  expect_note(file, "`period=4,5,6`");
  expect_note(file, "holds 2 snapshots");
  EXPECT_EQ(labels_of(dump, "element"), (Names{"Si", "O"}));
  std::string scaled = dump;
  scaled.replace(scaled.find("x y z"), 5, "xs ys zs");
  expect_note(read_bytes(read_any, scaled), "fractions of the box");
  expect_survives_damage(read_any, dump, false);
}

TEST(Lammps, WhatIsWrong) {
  expect_error<CorruptFile>(read_any, lammps("Atoms # hybrid sphere", "1 1 1 1 1\n2 1 1 1 1\n"),
                            "the atom style \"hybrid sphere\"");
  expect_error<CorruptFile>(read_any, lammps("Atoms", "1 1\n2 1\n"), "2 fields fit no atom style");
  expect_error<CorruptFile>(read_any, lammps("Atoms", "1 1 0.5 0.5 0.5\n"),
                            "has 1 fields where an atom has 5; after 1 of 2 atoms");
  expect_error<BadData>(read_any, lammps("Atoms", "1 1 0.5 0.5 0.5\n2 1 1 1 ?\n"), "\"?\" of \"z\" is not a number");
}

}  // namespace
}  // namespace kith::io::test
