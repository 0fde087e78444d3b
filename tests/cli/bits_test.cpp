// knn and radius under --metric hamming: files of bits, results, and flags that mean nothing for them.
#include "cli/run_command.hpp"

#include <kith/io/neighbors_file.hpp>

#include <nlohmann/json.hpp>

namespace kith::test {
namespace {

using nlohmann::json;

/// A .npy of single bytes.
std::string npy(const std::string& type, const std::string& shape, const std::string& values, bool by_columns = false) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + (by_columns ? "True" : "False") + ", 'shape': " + shape + ", }";
  header += std::string(118 - header.size() - 1, ' ') + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + values;
}

const std::string kHead = "query,rank,index,distance\n";

/// Four rows of 9 bits: 000000000, 000000001, 111111110, 111111111.
class Bits : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("packed.npy", npy("|u1", "(4, 2)", std::string("\x00\x00\x00\x80\xff\x00\xff\x80", 8)));
    std::string values;
    for (const char* row : {"000000000", "000000001", "111111110", "111111111"}) {
      for (const char* bit = row; *bit != '\0'; ++bit) values += *bit == '1' ? '\1' : '\0';
    }
    write("bool.npy", npy("|b1", "(4, 9)", values));
    std::string columns;
    for (std::size_t j = 0; j < 9; ++j) {
      for (std::size_t i = 0; i < 4; ++i) columns += values[i * 9 + j];
    }
    write("columns.npy", npy("|b1", "(4, 9)", columns, true));
    write("one.npy", npy("|u1", "(1, 2)", std::string("\xf0\x00", 2)));
  }
};

TEST_F(Bits, NearestAreCountedInBits) {
  const std::string all = kHead + "0,0,0,0\n0,1,1,1\n1,0,1,0\n1,1,0,1\n2,0,2,0\n2,1,3,1\n3,0,3,0\n3,1,2,1\n";
  for (const char* name : {"packed.npy", "bool.npy", "columns.npy"}) {
    EXPECT_EQ(run_kith({"knn", path(name), "-k", "2", "--metric", "hamming", "--quiet"}).out, all) << name;
  }
  EXPECT_EQ(run_kith({"knn", path("packed.npy"), path("one.npy"), "-k", "5", "--metric", "hamming", "--quiet"}).out,
            kHead + "0,0,0,4\n0,1,2,4\n0,2,1,5\n0,3,3,5\n0,4,4,inf\n");
  EXPECT_EQ(
      run_kith({"knn", "-", "-k", "1", "--metric", "hamming", "--exclude-self", "--quiet"}, content(path("packed.npy")))
          .out,
      kHead + "0,0,1,1\n1,0,0,1\n2,0,3,1\n3,0,2,1\n");
}

TEST_F(Bits, BoundsAndFiltersAreObeyed) {
  write("allow.csv", "1\n0\n0\n1\n");
  EXPECT_EQ(run_kith({"knn", path("bool.npy"), "-k", "1", "--metric", "hamming", "--within", "1", "--allow",
                      path("allow.csv"), "--quiet"})
                .out,
            kHead + "0,0,0,0\n1,0,0,1\n2,0,3,1\n3,0,3,0\n");
  EXPECT_EQ(run_kith({"knn", path("bool.npy"), "-k", "1", "--metric", "hamming", "--earlier-only", "--quiet"}).out,
            kHead + "0,0,4,inf\n1,0,0,1\n2,0,0,8\n3,0,2,1\n");
  EXPECT_EQ(run_kith({"radius", path("bool.npy"), "-r", "8", "--metric", "hamming", "--count", "--quiet"}).out,
            "query,count\n0,3\n1,3\n2,3\n3,3\n");
  EXPECT_EQ(run_kith({"radius", path("bool.npy"), "-r", "8", "--metric", "hamming", "--max-neighbors", "2",
                      "--exclude-self", "--quiet"})
                .out,
            kHead + "0,0,1,1\n0,1,2,8\n1,0,0,1\n1,1,3,8\n2,0,3,1\n2,1,0,8\n3,0,2,1\n3,1,1,8\n");
}

TEST_F(Bits, ReportsAndResultsAreAsAlways) {
  const Outcome outcome = run_kith(
      {"knn", path("bool.npy"), "-k", "2", "--metric", "hamming", "--json", "--explain", "--out", path("near.npz")});
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["metric"], "hamming");
  EXPECT_EQ(report["bits"], 9);
  EXPECT_EQ(report["points"], 4);
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_EQ(report["k"], 2);
  EXPECT_PRED2(has, outcome.err, "4 rows of 9 bits");
  EXPECT_EQ(std::get<Neighbors>(io::read_neighbors(path("near.npz"))).distance(0, 1), 1);
  const json within =
      json::parse(run_kith({"radius", path("bool.npy"), "-r", "1", "--metric", "hamming", "--json"}).out);
  EXPECT_EQ(within["neighbors"], 8);
}

TEST_F(Bits, WhatMeansNothingForBitsIsRefused) {
  const auto knn = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"knn", path("bool.npy"), "-k", "1", "--metric", "hamming"};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  };
  const std::vector<std::vector<std::string>> refused = {
      {"--squared"},      {"--skip-nonfinite"}, {"--period", "1"},     {"--leaf-size", "8"}, {"--split", "cycle"},
      {"--map"},          {"--eps", "1"},       {"--max-leaves", "3"}, {"--format", "csv"},  {"--dtype", "f32"},
      {"--columns", "1"}, {"--label", "1"},     {"--delimiter", ";"},  {"--header", "no"},   {"--array", "x"}};
  for (const auto& flag : refused) expect_failure(knn(flag), 2, flag[0] + " means nothing for rows of bits");
  write("radii.csv", "1\n1\n1\n1\n");
  const std::vector<std::string> within = {"radius", path("bool.npy"), "--metric", "hamming", "--count"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), within.begin(), within.end());
    return run_kith(more).out;
  };
  EXPECT_EQ(with({"--radius-file", path("radii.csv")}), with({"-r", "1"}));
  expect_failure(knn({"--engine", "kdtree"}), 2, "--engine kdtree means nothing for rows of bits");
  EXPECT_EQ(knn({"--engine", "brute", "--quiet"}).code, 0);
  EXPECT_EQ(knn({"--engine", "covertree", "--leaf-size", "1", "--eps", "1", "--quiet"}).code, 0);
  write("p.csv", "0\n1\n");
  ASSERT_EQ(run_kith({"build", path("p.csv"), "--out", path("p.kith"), "--quiet"}).code, 0);
  expect_failure(run_kith({"knn", path("p.kith"), "-k", "1", "--metric", "hamming"}), 2,
                 "is an index of points; leave --metric hamming out");
  expect_failure(run_kith({"knn", path("bool.npy"), path("p.kith"), "-k", "1", "--metric", "hamming"}), 2,
                 "QUERIES are a .npy of bits");
}

TEST_F(Bits, FilesThatHoldNoBitsAreRefused) {
  const auto knn = [&](const std::string& file) {
    return run_kith({"knn", write("x.npy", file), "-k", "1", "--metric", "hamming"});
  };
  expect_failure(knn("0,1\n2,3,4,5,6,7\n"), 4, "not an NPY array");
  expect_failure(knn(npy("<f4", "(1, 1)", std::string(4, '\0'))), 3,
                 "holds f32, but rows of bits are an array of uint8");
  expect_failure(knn(npy("|u1", "(4,)", "abcd")), 3, "shape (4); rows of bits have shape (rows, bytes)");
  expect_failure(knn(npy("|u1", "(4, 0)", "")), 3, "the array has 0 columns");
  expect_failure(knn(npy("|u1", "(1, 131073)", std::string(131073, 'x'))), 3, "rows of bits have 1 to 131072");
  expect_failure(knn(npy("|u1", "(4, 3)", "abc")), 4, "needs more than the 3 bytes");
  expect_failure(run_kith({"knn", path("packed.npy"), path("bool.npy"), "-k", "1", "--metric", "hamming"}), 2,
                 "has 9 bits, but");
  expect_failure(run_kith({"knn", path("none.npy"), "-k", "1", "--metric", "hamming"}), 5, "cannot be opened");
  EXPECT_EQ(knn(npy("|u1", "(0, 3)", "")).out, kHead);
}

}  // namespace
}  // namespace kith::test
