// kith select: rows by condition, box, range, mask, every n-th and at random, with all their columns.
#include "cli/run_command.hpp"

#include <kith/io/table.hpp>

#include <nlohmann/json.hpp>

#include <vector>

namespace kith::test {
namespace {

class SelectCommand : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("t.csv", "x,y,label\n0,0,car\n1.50,5,man\n2,10,car\n3,15,bus\n4,20,car\n");
  }

  Outcome select(std::vector<std::string> more) const {
    std::vector<std::string> words = {"select", path("t.csv"), "-q"};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  }
  std::string rows(std::vector<std::string> more) const {
    const Outcome outcome = select(std::move(more));
    EXPECT_EQ(outcome.code, 0) << outcome;
    return outcome.out;
  }
};

TEST_F(SelectCommand, TakesRowsByCondition) {
  EXPECT_EQ(rows({"--where", "label == 'car' and x > 1"}), "x,y,label\n2,10,car\n4,20,car\n");
  EXPECT_EQ(rows({"--where", "x < 2", "--drop", "label"}), "x,y\n0,0\n1.50,5\n");
  EXPECT_EQ(rows({"--where", "label == 'bus'", "--columns", "y,x"}), "y,x\n15,3\n");
  EXPECT_EQ(rows({"--where", "x > 100"}), "x,y,label\n");
  EXPECT_EQ(rows({"--where", "label == 'car'", "--invert"}), "x,y,label\n1.50,5,man\n3,15,bus\n");
  expect_failure(select({"--where", "speed > 1"}), 2, "--where: the condition is wrong at character 1, \"speed > 1\"");
}

TEST_F(SelectCommand, TakesRowsByBoxRangeAndMask) {
  EXPECT_EQ(rows({"--box", "1:3,:10"}), "x,y,label\n1.50,5,man\n2,10,car\n");
  EXPECT_EQ(rows({"--box", "y=15:"}), "x,y,label\n3,15,bus\n4,20,car\n");
  expect_failure(select({"--box", "1:2,3:4,5:6"}), 2, "2 coordinates");
  expect_failure(select({"--box", "1"}), 2, "--box: \"1\" is not low:high");
  expect_failure(select({"--box", "a:2"}), 2, "\"a\"");
  expect_failure(select({"--box", "3:2"}), 2, "lies above");
  expect_failure(select({"--box", "label=1:2"}), 2, "holds text");
  EXPECT_EQ(rows({"--range", "1:3"}), "x,y,label\n1.50,5,man\n2,10,car\n");
  EXPECT_EQ(rows({"--range", "-2:"}), "x,y,label\n3,15,bus\n4,20,car\n");
  EXPECT_EQ(rows({"--range", "::2"}), "x,y,label\n0,0,car\n2,10,car\n4,20,car\n");
  expect_failure(select({"--range", "1"}), 2, "first:end");
  expect_failure(select({"--range", "a:2"}), 2, "first:end");
  expect_failure(select({"--range", "0:2:0"}), 2, "step");
  write("mask.csv", "1\n0\n0\n0\n1\n");
  EXPECT_EQ(rows({"--mask", path("mask.csv")}), "x,y,label\n0,0,car\n4,20,car\n");
  write("short.csv", "1\n0\n");
  expect_failure(select({"--mask", path("short.csv")}), 2, "--mask");
}

TEST_F(SelectCommand, TakesEveryNthAndRandomRows) {
  EXPECT_EQ(rows({"--every", "2"}), "x,y,label\n0,0,car\n2,10,car\n4,20,car\n");
  EXPECT_EQ(rows({"--where", "label == 'car'", "--every", "2"}), "x,y,label\n0,0,car\n4,20,car\n");
  const std::string some = rows({"--random", "2", "--seed", "5"});
  EXPECT_EQ(some, rows({"--random", "2", "--seed", "5"}));
  EXPECT_EQ(std::count(some.begin(), some.end(), '\n'), 3);
  EXPECT_EQ(rows({"--random", "9"}), content(path("t.csv")));
}

TEST_F(SelectCommand, WritesTheMapAndTheReport) {
  ASSERT_EQ(select({"--range", "1:3", "--out", path("o.csv"), "--map", path("m.csv")}).code, 0);
  EXPECT_EQ(content(path("m.csv")), "row,kept,kept_row\n0,,\n1,0,1\n2,1,2\n3,,\n4,,\n");
  const Outcome outcome = select({"--every", "2", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(nlohmann::json::parse(outcome.out)["selected"], 3);
}

TEST_F(SelectCommand, KeepsTypesInBinaryFiles) {
  ASSERT_EQ(run_kith({"convert", path("t.csv"), path("t.pcd"), "-q", "--dtype", "y=u16", "--drop", "label"}).code, 0);
  ASSERT_EQ(run_kith({"select", path("t.pcd"), "--where", "y >= 10", "--out", path("o.pcd")}).code, 0);
  const io::Table table = io::read_table(path("o.pcd"));
  EXPECT_EQ(table.rows(), 3u);
  EXPECT_EQ(table.columns[1].type(), io::ColumnType::u16);
}

TEST_F(SelectCommand, RefusesWhatMakesNoSense) {
  expect_failure(select({}), 2, "say which rows");
  expect_failure(select({"--every", "0"}), 2, "--every");
  expect_failure(select({"--every", "2", "--out", path("t.csv")}), 2, "t.csv");
  expect_failure(select({"--every", "2", "--json", "--out", "-"}), 2, "standard output");
}

}  // namespace
}  // namespace kith::test
