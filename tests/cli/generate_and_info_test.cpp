// kith generate and kith info, and that what the one writes the other describes truthfully.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>

namespace kith::test {
namespace {

using nlohmann::json;

class GenerateCommand : public CommandTest {};
class InfoCommand : public CommandTest {
 protected:
  static json info(const std::string& file, std::vector<std::string> more = {}) {
    std::vector<std::string> words = {"info", file, "--json"};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run_kith(words);
    EXPECT_EQ(outcome.code, 0) << outcome;
    return json::parse(outcome.out, nullptr, false);
  }
};

TEST_F(GenerateCommand, WritesEveryFormatWithTheSamePoints) {
  const std::vector<std::string> make = {"generate", "--shape", "clusters", "--points", "500",
                                         "--dims",   "3",       "--seed",   "7"};
  json first;
  for (const std::string extension : {"npy", "npz", "ply", "pcd", "csv"}) {
    SCOPED_TRACE(extension);
    std::vector<std::string> words = make;
    words.insert(words.end(), {"--out", path("p." + extension)});
    const Outcome outcome = run_kith(words);
    ASSERT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(outcome.out, "");
    EXPECT_PRED2(has, outcome.err, "500 points of 3 dimensions");
    const Outcome described = run_kith({"info", path("p." + extension), "--json", "--dtype", "f32"});
    ASSERT_EQ(described.code, 0) << described;
    const json info = json::parse(described.out);
    EXPECT_EQ(info["points"], 500);
    EXPECT_EQ(info["dims"], 3);
    if (first.is_null()) first = info;
    EXPECT_EQ(info["lower"], first["lower"]);
    EXPECT_EQ(info["upper"], first["upper"]);
  }
  EXPECT_EQ(files(), (std::vector<std::string>{"p.csv", "p.npy", "p.npz", "p.pcd", "p.ply"}));
}

TEST_F(GenerateCommand, EveryShapeIsThere) {
  for (const std::string shape : {"uniform", "clusters", "surface", "lidar", "grid", "line", "duplicates", "classes"}) {
    SCOPED_TRACE(shape);
    const Outcome outcome =
        run_kith({"generate", "--shape", shape, "--points", "200", "--out", path("p.npy"), "--quiet"});
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(outcome.out + outcome.err, shape == "classes" ? outcome.err : "");
    EXPECT_EQ(json::parse(run_kith({"info", path("p.npy"), "--json"}).out)["points"], 200);
  }
}

TEST_F(GenerateCommand, CountsMayBeWrittenInShort) {
  for (const auto& [text, points] :
       std::vector<std::pair<std::string, int>>{{"2k", 2000}, {"1e3", 1000}, {"2.5k", 2500}, {"0", 0}}) {
    SCOPED_TRACE(text);
    ASSERT_EQ(run_kith({"generate", "--points", text, "--dims", "2", "--dtype", "f64", "--out", path("p.npy")}).code,
              0);
    const json info = json::parse(run_kith({"info", path("p.npy"), "--json"}).out);
    EXPECT_EQ(info["points"], points);
    EXPECT_EQ(info["dims"], 2);
    EXPECT_EQ(info["dtype"], "f64");
    EXPECT_EQ(info["bytes"], points * 16);
  }
}

TEST_F(GenerateCommand, TheSeedDecidesTheBytes) {
  const auto make = [&](const std::string& name, const std::string& seed, const std::string& threads) {
    EXPECT_EQ(
        run_kith({"generate", "--points", "5000", "--seed", seed, "--threads", threads, "--out", path(name)}).code, 0);
    return content(path(name));
  };
  const std::string first = make("a.npy", "5", "1");
  EXPECT_EQ(make("b.npy", "5", "3"), first);
  EXPECT_NE(make("c.npy", "6", "1"), first);
}

TEST_F(GenerateCommand, WithoutOutCsvGoesToStandardOutput) {
  const Outcome outcome = run_kith({"generate", "--points", "3", "--dims", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_TRUE(outcome.out.starts_with("x,y\n")) << outcome;
  EXPECT_EQ(std::count(outcome.out.begin(), outcome.out.end(), '\n'), 4) << outcome;
}

TEST_F(GenerateCommand, LabelsAreTheLastColumnOfACsvFileAndMentionedElsewhere) {
  ASSERT_EQ(
      run_kith({"generate", "--shape", "classes", "--classes", "3", "--points", "300", "--out", path("c.csv")}).code,
      0);
  EXPECT_TRUE(content(path("c.csv")).starts_with("x,y,z,label\n"));
  const json info = json::parse(run_kith({"info", path("c.csv"), "--json", "--label", "label"}).out);
  EXPECT_EQ(info["dims"], 3);
  ASSERT_EQ(info["labels"].size(), 3u);
  int total = 0;
  for (const json& label : info["labels"]) total += label["points"].get<int>();
  EXPECT_EQ(total, 300);
  const Outcome npy = run_kith({"generate", "--shape", "classes", "--points", "300", "--out", path("c.npy")});
  EXPECT_EQ(npy.code, 0);
  EXPECT_PRED2(has, npy.err, "npy files hold no labels");
}

TEST_F(GenerateCommand, TrainAndNewMakeAFileOfPointsToBeClassified) {
  const std::vector<std::string> make = {"generate",  "--shape", "classes", "--seed", "5",
                                         "--classes", "3",       "--dims",  "2"};
  const auto made = [&](std::vector<std::string> more) {
    more.insert(more.begin(), make.begin(), make.end());
    more.insert(more.end(), {"--out", path("c.csv")});
    const Outcome outcome = run_kith(more);
    EXPECT_EQ(outcome.code, 0) << outcome;
    return outcome.err;
  };
  EXPECT_PRED2(has, made({"--train", "20", "--new", "4"}),
               "20 points with a class and 4 new ones of 2 dimensions (3 classes, seed 5) in ");
  std::istringstream lines(content(path("c.csv")));
  std::string line;
  std::getline(lines, line);
  EXPECT_EQ(line, "20,4,3,2");
  // The same points as without --train and --new, with all 6 decimals and without the labels of the last.
  EXPECT_EQ(made({"--points", "24", "--dtype", "f64", "--quiet"}), "");
  std::istringstream points(content(path("c.csv")));
  std::string point;
  std::getline(points, point);
  for (int row = 0; row < 24; ++row) {
    ASSERT_TRUE(std::getline(lines, line));
    ASSERT_TRUE(std::getline(points, point));
    double x = 0, y = 0, other_x = 0, other_y = 0;
    int label = 0, other_label = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%lf,%lf,%d", &x, &y, &label), 3) << line;
    ASSERT_EQ(std::sscanf(point.c_str(), "%lf,%lf,%d", &other_x, &other_y, &other_label), 3) << point;
    EXPECT_EQ(x, other_x);
    EXPECT_EQ(y, other_y);
    EXPECT_EQ(label, row < 20 ? other_label : -1);
    EXPECT_EQ(line.find(','), line.find('.') + 7);
  }
  EXPECT_FALSE(std::getline(lines, line));
  made({"--new", "2"});
  EXPECT_TRUE(content(path("c.csv")).starts_with("0,2,3,2\n"));
  made({"--train", "2"});
  EXPECT_TRUE(content(path("c.csv")).starts_with("2,0,3,2\n"));
  const Outcome printed = run_kith({"generate", "--shape", "classes", "--train", "1", "--new", "1", "--quiet"});
  EXPECT_TRUE(printed.out.starts_with("1,1,10,3\n")) << printed;
  EXPECT_EQ(printed.err, "");
}

TEST_F(GenerateCommand, TrainAndNewGoWithTheShapeClassesAndText) {
  const auto refused = [&](std::vector<std::string> more, const std::string& part) {
    more.insert(more.begin(), "generate");
    expect_failure(run_kith(more), 2, part);
  };
  refused({"--train", "5", "--out", path("c.csv")}, "--train and --new go with --shape classes only");
  refused({"--shape", "classes", "--train", "5", "--points", "5"}, "--points does not go with --train and --new");
  refused({"--shape", "classes", "--new", "5", "--dtype", "f32"}, "--dtype does not go with --train and --new");
  refused({"--shape", "classes", "--new", "5", "--out", path("c.npy")}, "write text, not npy");
  refused({"--shape", "classes", "--new", "5", "--format", "ply", "--out", path("c")}, "write text, not ply");
  refused({"--shape", "classes", "--new", "5", "--out", path("c.csv.gz")}, "gzip is read but not written");
  refused({"--shape", "classes", "--train", "4e9", "--new", "4e9"}, "together more than 4294967294");
  refused({"--shape", "classes", "--train", "-1"}, "--train");
  EXPECT_TRUE(files().empty());
}

TEST_F(GenerateCommand, WhatCannotBeIsRefused) {
  expect_failure(run_kith({"generate", "--out", path("p.laz")}), 2, "points are written as");
  expect_failure(run_kith({"generate", "--classes", "3", "--out", path("p.csv")}), 2, "--shape classes only");
  expect_failure(run_kith({"generate", "--out", path("no/such/p.csv")}), 5, "cannot be created");
  expect_failure(run_kith({"generate", "--out", folder_}), 5, "is a directory");
  expect_failure(run_kith({"generate", "--out", ""}), 2, "empty");
  expect_failure(run_kith({"generate", "--points", "4e9", "--dims", "4096", "--out", path("p.npy")}), 6, "memory");
  expect_failure(run_kith({"generate", "--shape", "lidar", "--dims", "7", "--out", path("p.npy")}), 2, "lidar");
  EXPECT_TRUE(files().empty());
}

TEST_F(InfoCommand, TellsTheTruthAsJson) {
  const std::string file = write("p.csv", "a,b\n1,2\n3,-4\n1,2\n0,0\n-0,0\n");
  const json report = info(file);
  EXPECT_EQ(report["points"], 5);
  EXPECT_EQ(report["dims"], 2);
  EXPECT_EQ(report["dtype"], "f64");
  EXPECT_EQ(report["nonfinite"], 0);
  EXPECT_EQ(report["duplicates"], 2);
  EXPECT_EQ(report["lower"], json::parse("[0.0, -4.0]"));
  EXPECT_EQ(report["upper"], json::parse("[3.0, 2.0]"));
  EXPECT_EQ(report["bytes"], 80);
  EXPECT_EQ(report["format"], "text");
  EXPECT_EQ(report["columns"], json::parse(R"(["a", "b"])"));
  EXPECT_FALSE(report.contains("labels"));
}

TEST_F(InfoCommand, CountsRowsThatAreNotFinite) {
  const json report = info(write("p.csv", "x,y\n1,nan\n2,3\ninf,nan\n"));
  EXPECT_EQ(report["nonfinite"], 2);
  EXPECT_EQ(report["points"], 3);
  EXPECT_EQ(report["lower"], json::parse("[2.0, 3.0]"));
}

TEST_F(InfoCommand, MissingValuesAreRefusedUnlessTheyMayBeSkipped) {
  const std::string file = write("p.csv", "x,y\n1,2\n3,\n5,6\n");
  expect_failure(run_kith({"info", file}), 3, "p.csv");
  EXPECT_EQ(info(file, {"--skip-nonfinite"})["nonfinite"], 1);
}

TEST_F(InfoCommand, ReadsAsTold) {
  const std::string file = write("p.txt", "1;2;u\n3;4;v\n5;6;u\n");
  const json report = info(file, {"--delimiter", "semicolon", "--header", "no", "--label", "3", "--dtype", "f32"});
  EXPECT_EQ(report["points"], 3);
  EXPECT_EQ(report["dims"], 2);
  EXPECT_EQ(report["dtype"], "f32");
  EXPECT_EQ(report["labels"], json::parse(R"([{"label": "u", "points": 2}, {"label": "v", "points": 1}])"));
  EXPECT_EQ(info(file, {"--columns", "2", "--header", "no"})["lower"], json::parse("[2.0]"));
  EXPECT_EQ(info(write("t.tsv", "1\t2\n3\t4\n"), {"--delimiter", "tab", "--format", "tsv"})["points"], 2);
}

TEST_F(InfoCommand, ReadsStandardInput) {
  const Outcome outcome = run_kith({"info", "-"}, "1,2\n3,4\n");
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.out, "standard input");
  EXPECT_PRED2(has, outcome.out, "points        2\n");
}

TEST_F(InfoCommand, ListsTheDevices) {
  const json report = json::parse(run_kith({"info", "--devices", "--json"}).out);
  EXPECT_EQ(report["devices"][0]["device"], "cpu");
  EXPECT_GT(report["devices"][0]["memory_bytes"].get<std::uint64_t>(), 0u);
  EXPECT_GE(report["devices"][0]["threads"].get<int>(), 1);
  EXPECT_TRUE(run_kith({"info", "--devices"}).out.starts_with("cpu "));
  const auto sets = report["devices"][0]["instruction_sets"].get<std::vector<std::string>>();
  const auto in_use = report["devices"][0]["instruction_set"].get<std::string>();
  EXPECT_NE(std::find(sets.begin(), sets.end(), in_use), sets.end());
  for (const std::string& set : sets) {
    RunningCommand::Settings forced;
    forced.words = {"info", "--devices", "--json"};
    forced.environment = {"KITH_SIMD=" + set};
    EXPECT_EQ(json::parse(RunningCommand(forced).finish().out)["devices"][0]["instruction_set"], set);
    forced.environment = {"KITH_SIMD=abacus"};
    expect_failure(RunningCommand(forced).finish(), 2, "KITH_SIMD is \"abacus\"");
  }
  expect_failure(run_kith({"info", "a.csv", "--devices"}), 2, "--devices takes no file");
}

TEST_F(InfoCommand, TellsHeaderAndComments) {
  const std::string file = write("p.csv", "#made by hand\n\nx,y\n1,2\n# between\n3,4\n");
  const Outcome text = run_kith({"info", file, "--explain"});
  EXPECT_PRED2(has, text.out, "header        line 3\ncomments      2 lines\n");
  EXPECT_PRED2(has, text.err, "explain: header: line 3; comments: 2 lines\n");
  const json report = info(file);
  EXPECT_EQ(report["header_line"], 3);
  EXPECT_EQ(report["comment_lines"], 2);
  const json bare = info(write("q.csv", "# x y\n1 2\n3 4\n"));
  EXPECT_TRUE(bare["header_line"].is_null());
  EXPECT_EQ(bare["names_line"], 1);
  EXPECT_PRED2(has, run_kith({"knn", file, file, "-k", "1", "--explain"}).err,
               "explain: header: line 3; comments: 2 lines");
  expect_failure(run_kith({"info", write("r.csv", "1,2\n#N/A,3\n")}), 3, "line 2, column 1: \"#N/A\" is not a number");
}

TEST_F(InfoCommand, ZeroThreadsObeysTheEnvironmentOfOpenMp) {
  RunningCommand::Settings limited;
  limited.words = {"info", "--devices", "--json"};
  limited.environment = {"OMP_NUM_THREADS=1"};
  EXPECT_EQ(json::parse(RunningCommand(limited).finish().out)["devices"][0]["threads"], 1);
}

}  // namespace
}  // namespace kith::test
