// kith convert: all columns and types from format to format, joined and split, and what cannot be held.
#include "cli/run_command.hpp"

#include <kith/io/table.hpp>

#include <nlohmann/json.hpp>

#include <vector>

namespace kith::test {
namespace {

using Json = nlohmann::json;

class ConvertCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write(
        "c.ply",
        "ply\nformat ascii 1.0\nelement vertex 3\nproperty float x\nproperty float y\nproperty float z\nproperty uchar "
        "red\nproperty ushort intensity\nproperty double weight\nend_header\n1 2.5 3 200 7 0.1\n0.1 2 -3 201 8 nan\n4 "
        "5 "
        "6 7 65535 0.3\n");
    write("t.csv", "name,x,y\n\"Smith, J.\",1.50,2\nb,,4\n");
  }

  Outcome convert(std::vector<std::string> words) const {
    words.insert(words.begin(), "convert");
    return run_kith(words);
  }
};

TEST_F(ConvertCommand, GoesThereAndBackWithEveryType) {
  ASSERT_EQ(convert({path("c.ply"), path("first.ply"), "--ascii"}).code, 0);
  for (const std::string name : {"c.pcd", "c2.ply", "c.ply.gz", "c.pcd.gz"}) {
    SCOPED_TRACE(name);
    const Outcome there = convert({path("c.ply"), path(name)});
    ASSERT_EQ(there.code, 0) << there;
    EXPECT_EQ(there.err.find("note"), std::string::npos) << there;
    const Outcome back = convert({path(name), path("back.ply"), "--ascii"});
    ASSERT_EQ(back.code, 0) << back;
    EXPECT_EQ(content(path("back.ply")), content(path("first.ply")));
  }
  ASSERT_EQ(convert({path("c.ply"), path("c.las"), "-q"}).code, 0);
  const io::Table las = io::read_table(path("c.las"));
  EXPECT_EQ(las.columns[*las.find("intensity")].values<std::uint16_t>()[2], 65535);
  EXPECT_EQ(las.columns[*las.find("weight")].values<double>()[2], 0.3);
  EXPECT_EQ(las.columns[*las.find("red")].type(), io::ColumnType::u8);  // without green and blue it is no colour of LAS
}

TEST_F(ConvertCommand, WritesArchivesFromFrontToBack) {  // a gzip stream or a pipe cannot go back to fill in sizes
  for (const std::string name : {"c.npz", "c.npz.gz"}) {
    ASSERT_EQ(convert({path("c.ply"), path(name), "-q"}).code, 0);
    ASSERT_EQ(convert({path(name), path(name + ".csv"), "-q"}).code, 0);
  }
  EXPECT_EQ(content(path("c.npz.gz.csv")), content(path("c.npz.csv")));
}

TEST_F(ConvertCommand, TextStaysAsItStood) {
  EXPECT_EQ(convert({path("t.csv"), "-", "-q"}).out, content(path("t.csv")));
  ASSERT_EQ(convert({path("t.csv"), path("t.tsv")}).code, 0);
  EXPECT_EQ(content(path("t.tsv")), "name\tx\ty\nSmith, J.\t1.50\t2\nb\t\t4\n");
  EXPECT_EQ(convert({path("t.tsv"), "-", "-q"}).out, content(path("t.csv")));
  EXPECT_EQ(run_kith({"convert", "-", "-", "-q"}, content(path("t.csv"))).out, content(path("t.csv")));
}

TEST_F(ConvertCommand, SaysWhatTheFormatCannotHold) {
  const Outcome npy = convert({path("t.csv"), path("t.npy")});
  EXPECT_EQ(npy.code, 0) << npy;
  EXPECT_PRED2(has, npy.err, "so this column is left out: name");
  EXPECT_PRED2(has, npy.err, "1 missing value is written as NaN; --skip-nonfinite leaves such rows out");
  const Outcome skipped = convert({path("t.csv"), path("t.npy"), "--skip-nonfinite", "--drop", "name"});
  EXPECT_PRED2(has, skipped.err, "1 row with NaN or infinity were left out");
  EXPECT_EQ(io::read_table(path("t.npy")).rows(), 1u);
  write("big.csv", "x,id\n1,9007199254740993\n");
  expect_failure(convert({path("big.csv"), path("big.ply")}), 2, "--drop id");
  expect_failure(convert({path("t.csv"), path("t.las")}), 2, "no column \"z\"");
}

TEST_F(ConvertCommand, ChoosesColumnsAndTypes) {
  ASSERT_EQ(convert({path("c.ply"), path("c.csv"), "--columns", "weight,x"}).code, 0);
  EXPECT_EQ(content(path("c.csv")), "weight,x\n0.1,1\nnan,0.1\n0.3,4\n");
  ASSERT_EQ(convert({path("c.ply"), path("d.ply"), "--dtype", "f64,red=i32"}).code, 0);
  const io::Table table = io::read_table(path("d.ply"));
  EXPECT_EQ(table.columns[0].type(), io::ColumnType::f64);
  EXPECT_EQ(table.columns[3].type(), io::ColumnType::i32);
  expect_failure(convert({path("c.ply"), path("e.ply"), "--dtype", "intensity=u8"}), 2,
                 "u8 does not hold every value of the column intensity");
  expect_failure(convert({path("c.ply"), path("e.ply"), "--dtype", "u8"}), 2, "--dtype: \"u8\" is not a type");
  expect_failure(convert({path("c.ply"), path("e.ply"), "--columns", "speed"}), 2, "no column \"speed\"");
}

TEST_F(ConvertCommand, JoinsAndSplits) {
  write("more.csv", "y,x,name\n8,7,c\n");  // another order: found by name
  ASSERT_EQ(convert({path("t.csv"), path("more.csv"), path("all.csv")}).code, 0);
  EXPECT_EQ(content(path("all.csv")), content(path("t.csv")) + "c,7,8\n");
  expect_failure(convert({path("t.csv"), path("c.ply"), path("no.csv")}), 2, "c.ply: has 6 columns");
  const Outcome split = convert({path("all.csv"), path("part.csv"), "--rows-per-file", "2"});
  ASSERT_EQ(split.code, 0) << split;
  EXPECT_EQ(content(path("part-0001.csv")), content(path("t.csv")));
  EXPECT_EQ(content(path("part-0002.csv")), "name,x,y\nc,7,8\n");
  EXPECT_PRED2(has, split.err, "part-0002.csv");
}

TEST_F(ConvertCommand, ReportsAsJson) {
  const Outcome outcome = convert({path("c.ply"), path("o.pcd"), "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  const Json report = Json::parse(outcome.out);
  EXPECT_EQ(report["rows"], 3);
  EXPECT_EQ(report["columns"][3]["name"], "red");
  EXPECT_EQ(report["columns"][3]["type"], "u8");
}

TEST_F(ConvertCommand, RefusesWhatMakesNoSense) {
  expect_failure(convert({path("c.ply")}), 2, "IN... OUT");
  expect_failure(convert({}), 2, "FILES is required");
  expect_failure(convert({path("c.ply"), path("c.ply")}), 2, "c.ply");
  expect_failure(convert({path("c.ply"), path("c.laz")}), 2, "points are written as");
  expect_failure(convert({path("absent.ply"), path("c.csv")}), 5, "absent.ply");
  expect_failure(convert({path("c.ply"), "-", "--rows-per-file", "2"}), 2, "--rows-per-file");
}

}  // namespace
}  // namespace kith::test
