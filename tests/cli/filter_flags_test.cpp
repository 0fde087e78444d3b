// The flags of knn and radius that bound, filter, approximate and wrap.
#include "cli/run_command.hpp"

#include <kith/io/neighbors_file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace kith::test {
namespace {

using nlohmann::json;

class FilterFlags : public CommandTest {
 protected:
  Neighbors saved(const std::string& name) const { return std::get<Neighbors>(io::read_neighbors(path(name))); }
};

constexpr const char* kLine = "0\n1\n3\n7\n";
const std::string kAllowedHead = "query,rank,index,distance\n";

/// A .npy of one byte per value, by type "|b1" or "|u1".
std::string npy_bytes(const std::string& type, const std::string& values) {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + std::to_string(values.size()) + ",), }";
  header += std::string(118 - header.size() - 1, ' ') + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header + values;
}

TEST_F(FilterFlags, WithinBoundsTheNeighbours) {
  write("p.csv", kLine);
  EXPECT_EQ(run_kith({"knn", path("p.csv"), "-k", "2", "--exclude-self", "--within", "2", "--quiet"}).out,
            kAllowedHead + "0,0,1,1\n0,1,4,inf\n1,0,0,1\n1,1,2,2\n2,0,1,2\n2,1,4,inf\n3,0,4,inf\n3,1,4,inf\n");
  const json report = json::parse(run_kith({"knn", path("p.csv"), "-k", "2", "--within", "2.5", "--json"}).out);
  EXPECT_EQ(report["within"], 2.5);
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "2", "--within", "-1"}), 2, "--within: -1 is not a distance");
  expect_failure(run_kith({"radius", path("p.csv"), "-r", "2", "--within", "1"}), 2, "there is no flag --within");
}

TEST_F(FilterFlags, AllowNamesThePointsThatMayBeFound) {
  write("p.csv", kLine);
  const std::string mask("\x01\x00\x00\x01", 4);
  write("bool.npy", npy_bytes("|b1", mask));
  write("bytes.npy", npy_bytes("|u1", mask));
  write("text.csv", "1\n0\n0\n1\n");
  for (const char* name : {"bool.npy", "bytes.npy", "text.csv"}) {
    EXPECT_EQ(run_kith({"knn", path("p.csv"), "-k", "1", "--allow", path(name), "--quiet"}).out,
              kAllowedHead + "0,0,0,0\n1,0,0,1\n2,0,0,3\n3,0,3,0\n")
        << name;
    EXPECT_EQ(run_kith({"radius", path("p.csv"), "-r", "3", "--count", "--allow", path(name)}).out,
              "query,count\n0,1\n1,1\n2,1\n3,1\n")
        << name;
  }
  EXPECT_EQ(
      json::parse(
          run_kith({"knn", path("p.csv"), "-k", "1", "--allow", path("bool.npy"), "--json"}).out)["allowed_points"],
      2);
  const auto refused = [&](const std::string& values) {
    return run_kith({"knn", path("p.csv"), "-k", "1", "--allow", write("bad.csv", values)});
  };
  expect_failure(refused("1\n0\n"), 2, "has 2 values, but there are 4 points");
  expect_failure(refused("1\n0\n2\n1\n"), 3, "row 2 (counted from 0) is 2");
  expect_failure(refused("1,1\n0,0\n1,1\n1,1\n"), 2, "has 2 columns; give one value per point");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--allow", path("none.npy")}), 5, "none.npy");
  expect_failure(run_kith({"knn", "-", "-k", "1", "--allow", "-"}, kLine), 2, "cannot both be standard input");
}

TEST_F(FilterFlags, EarlierOnlyLooksBack) {
  write("p.csv", kLine);
  EXPECT_EQ(run_kith({"knn", path("p.csv"), "-k", "1", "--earlier-only", "--quiet"}).out,
            kAllowedHead + "0,0,4,inf\n1,0,0,1\n2,0,1,2\n3,0,2,4\n");
  EXPECT_EQ(run_kith({"radius", path("p.csv"), "-r", "2", "--earlier-only", "--quiet"}).out,
            kAllowedHead + "1,0,0,1\n2,0,1,2\n");
  expect_failure(run_kith({"knn", path("p.csv"), path("p.csv"), "-k", "1", "--earlier-only"}), 2, "leave QUERIES out");
}

TEST_F(FilterFlags, PeriodTakesTheWayAround) {
  write("p.csv", "0.5,1\n9.5,1\n5,9\n");
  write("q.csv", "-0.5,1\n19.75,9.5\n");
  EXPECT_EQ(
      run_kith({"knn", path("p.csv"), path("q.csv"), "-k", "2", "--period", "10,0", "--metric", "l1", "--quiet"}).out,
      kAllowedHead + "0,0,1,0\n0,1,0,1\n1,0,2,5.25\n1,1,1,8.75\n");
  EXPECT_EQ(run_kith({"radius", path("p.csv"), "-r", "1", "--period", "10,10", "--count"}).out,
            "query,count\n0,2\n1,2\n2,1\n");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--period", "10"}), 2, "1 length for 2 dimensions");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--period", "10,x"}), 2, "--period: \"x\" is not a number");
  EXPECT_PRED2(has, run_kith({"knn", path("p.csv"), "-k", "1", "--period", "5,0"}).err,
               "2 rows outside of the box of --period were wrapped into it");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--period", "10,0", "--metric", "cosine"}), 2,
                 "l2, l1, linf, lp:P only, not for cosine");
}

TEST_F(FilterFlags, ApproximationSaysWhatIsCertain) {
  ASSERT_EQ(run_kith({"generate", "--points", "3000", "--dims", "8", "--out", path("p.npy")}).code, 0);
  for (const char* engine : {"brute", "kdtree"}) {
    const Outcome outcome = run_kith({"knn", path("p.npy"), "-k", "4", "--max-leaves", "2", "--eps", "0.1", "--engine",
                                      engine, "--out", path("n.npz")});
    ASSERT_EQ(outcome.code, 0) << outcome;
    EXPECT_PRED2(has, outcome.err, "approximate: ");
    EXPECT_PRED2(has, outcome.err, "of 3 000 answers are certified exact");
    const Neighbors found = saved("n.npz");
    ASSERT_EQ(found.exact().size(), 3000u);
    const std::uint64_t certified =
        static_cast<std::uint64_t>(std::count(found.exact().begin(), found.exact().end(), std::uint8_t{1}));
    EXPECT_EQ(certified == 3000, engine == std::string("brute"));
    const json report = json::parse(
        run_kith({"knn", path("p.npy"), "-k", "4", "--max-leaves", "2", "--eps", "0.1", "--engine", engine, "--json"})
            .out);
    EXPECT_EQ(report["certified"], certified);
    EXPECT_EQ(report["eps"], 0.1);
    EXPECT_EQ(report["max_leaves"], 2);
  }
  write("l.csv", kLine);
  EXPECT_EQ(run_kith({"knn", path("l.csv"), "-k", "1", "--eps", "0.5", "--quiet"}).out,
            "query,rank,index,distance,exact\n0,0,0,0,1\n1,0,1,0,1\n2,0,2,0,1\n3,0,3,0,1\n");
  const Outcome exact = run_kith({"knn", path("l.csv"), "-k", "1", "--out", path("e.npz")});
  EXPECT_FALSE(has(exact.err, "approximate"));
  EXPECT_TRUE(saved("e.npz").exact().empty());
  expect_failure(run_kith({"knn", path("l.csv"), "-k", "1", "--eps", "inf"}), 2, "--eps: inf bounds nothing");
  expect_failure(run_kith({"knn", path("l.csv"), "-k", "1", "--eps", "-1"}), 2, "--eps");
  expect_failure(run_kith({"knn", path("l.csv"), "-k", "1", "--max-leaves", "0"}), 2, "--max-leaves: 0 is too small");
}

TEST_F(FilterFlags, TheTreeMayBeShaped) {
  ASSERT_EQ(run_kith({"generate", "--points", "3000", "--out", path("p.npy")}).code, 0);
  ASSERT_EQ(run_kith({"knn", path("p.npy"), "-k", "3", "--engine", "brute", "--out", path("a.npz")}).code, 0);
  ASSERT_EQ(run_kith({"knn", path("p.npy"), "-k", "3", "--engine", "kdtree", "--leaf-size", "5", "--split", "cycle",
                      "--out", path("b.npz")})
                .code,
            0);
  EXPECT_EQ(content(path("a.npz")), content(path("b.npz")));
  expect_failure(run_kith({"knn", path("p.npy"), "-k", "3", "--leaf-size", "1025"}), 2, "the most is 1024");
  expect_failure(run_kith({"knn", path("p.npy"), "-k", "3", "--split", "cylce"}), 2, "did you mean \"cycle\"?");
}

}  // namespace
}  // namespace kith::test
