// Files of molecules, plain numbers and other programs, as a user meets them.
#include "cli/run_command.hpp"

#include <kith/io/format.hpp>

namespace kith::test {
namespace {

using namespace std::string_literals;

class FormatsCommand : public CommandTest {};

const std::string kWater =
    "Water\n3\n"
    "    1SOL     OW    1   0.230   0.628   0.113\n"
    "    1SOL    HW1    2   0.137   0.626   0.150\n"
    "    1SOL    HW2    3   0.231   0.589   0.021\n"
    "   1.86206   1.86206   1.86206\n";

TEST_F(FormatsCommand, FilesOfOtherProgramsAreNamedWithACommand) {
  expect_failure(run_kith({"info", write("a.json", "{\"x\": [1, 2]}\n")}), 4,
                 "is JSON, which kith does not read; convert it: ");
  expect_failure(run_kith({"info", write("a.fasta", ">one\nACGT\n>two\nACGA\n")}), 4,
                 "compare them with --metric edit");
  expect_failure(run_kith({"knn", write("a.png", "\x89PNG\r\n\x1a\n"), "-k", "1"}), 4, "is a PNG image");
  expect_failure(run_kith({"info", write("a.bin", "\x01\x02\0\x03\x04"s)}), 4, "--layout \"f32 x,y,z\"");
}

TEST_F(FormatsCommand, MoleculesAreReadWithTheirColumns) {
  const Outcome info = run_kith({"info", write("water.gro", kWater), "--label", "name"});
  EXPECT_EQ(info.code, 0) << info;
  for (const char* part : {"format        gro\n", "points        3\n", "labels        3 different\n", "HW1"}) {
    EXPECT_PRED2(has, info.out, part);
  }
  EXPECT_PRED2(has, info.err, "--period 1.86206,1.86206,1.86206");
  expect_failure(run_kith({"info", path("water.gro"), "--columns", "x,name", "--quiet"}), 2,
                 "it can be the label (--label name)");
}

TEST_F(FormatsCommand, PlainNumbersByALayout) {
  const std::string scan = write("scan.bin", "\0\0\x80\x3f\0\0\0\x40\0\0\x40\x40\0\0\0\x3f"s);
  const Outcome info = run_kith({"info", scan, "--layout", "f32 x,y,z,i"});
  EXPECT_EQ(info.code, 0) << info;
  EXPECT_PRED2(has, info.out, "format        raw\npoints        1\ndims          3\n");
  expect_failure(run_kith({"info", scan, "--layout", "f32 x,y,z"}), 4,
                 "16 bytes are not a whole number of rows of 12 bytes");
  expect_failure(run_kith({"info", scan, "--layout", "f33 x"}), 2, "\"f33\" is not a type");
  expect_failure(run_kith({"info", scan, "--layout", "u8 x", "--format", "ply"}), 2, "leave --layout or --format out");
  ASSERT_EQ(run_kith({"build", scan, "--layout", "f32 x,y,z,i", "--out", path("scan.kith"), "--quiet"}).code, 0);
  expect_failure(run_kith({"knn", path("scan.kith"), "-k", "1", "--layout", "f32 x"}), 2, "leave --layout out");
}

TEST_F(FormatsCommand, ZstdIsNotWritten) {
  for (const std::string name : {"p.csv.zst", "p.npy.zst"}) {
    expect_failure(run_kith({"generate", "--points", "3", "--out", path(name)}), 2, "zstd is read but not written");
  }
  expect_failure(run_kith({"knn", write("a.csv", "1,2\n3,4\n"), "-k", "1", "--out", path("n.csv.zst")}), 2,
                 "not written");
  EXPECT_EQ(files(), std::vector<std::string>{"a.csv"});
}

TEST_F(FormatsCommand, EveryFormatIsAChoiceAndIsCompleted) {
  const Outcome help = run_kith({"help", "knn"});
  const Outcome completion = run_kith({"completion", "bash"});
  for (const std::string_view name : io::format_names()) {
    EXPECT_PRED2(has, help.out, std::string(name));
    EXPECT_PRED2(has, completion.out, std::string(name));
  }
  expect_failure(run_kith({"info", write("a.csv", "1,2\n"), "--format", "pbd"}), 2, "pdb");
}

}  // namespace
}  // namespace kith::test
