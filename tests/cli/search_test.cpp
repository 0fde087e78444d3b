// kith knn and kith radius: results, reports, standard input and output, and the flags that change the answer.
#include "cli/run_command.hpp"

#include <kith/io/neighbors_file.hpp>
#include <kith/metric.hpp>

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace kith::test {
namespace {

using nlohmann::json;

class KnnCommand : public CommandTest {
 protected:
  Neighbors saved(const std::string& name) const { return std::get<Neighbors>(io::read_neighbors(path(name))); }
};

class RadiusCommand : public CommandTest {
 protected:
  NeighborLists saved(const std::string& name) const { return std::get<NeighborLists>(io::read_neighbors(path(name))); }
};

constexpr const char* kPointsOnLine = "0\n1\n3\n7\n";  // four points on a line

TEST_F(RadiusCommand, TakesARadiusForEachQuery) {
  write("p.csv", kPointsOnLine);
  write("r.csv", "1\n0\n2.5\ninf\n");
  const Outcome outcome = run_kith({"radius", path("p.csv"), "--radius-file", path("r.csv")});
  EXPECT_EQ(
      outcome.out,
      "query,rank,index,distance\n0,0,0,0\n0,1,1,1\n1,0,1,0\n2,0,2,0\n2,1,1,2\n3,0,3,0\n3,1,2,4\n3,2,1,6\n3,3,0,7\n");
  EXPECT_PRED2(has, outcome.err, "9 neighbours within 0 to inf of 4 queries among 4 points");
  write("q.csv", "2\n8\n");
  write("two.csv", "1\n5\n");
  EXPECT_EQ(run_kith({"radius", path("p.csv"), path("q.csv"), "--radius-file", path("two.csv"), "--count"}).out,
            "query,count\n0,2\n1,2\n");
  const json report = json::parse(run_kith({"radius", path("p.csv"), "--radius-file", path("r.csv"), "--json"}).out);
  EXPECT_EQ(report["radius_file"], path("r.csv"));
  EXPECT_EQ(report["neighbors"], 9);
  EXPECT_FALSE(report.contains("radius"));
}

TEST_F(RadiusCommand, RefusesRadiiThatAreNone) {
  write("p.csv", kPointsOnLine);
  const auto refused = [&](const std::string& values) {
    return run_kith({"radius", path("p.csv"), "--radius-file", write("bad.csv", values)});
  };
  expect_failure(refused("1\n1\n1\n"), 2, "has 3 values, but there are 4 queries");
  expect_failure(refused("1\n1\n-1\n1\n"), 3, "row 2 (counted from 0) is -1");
  expect_failure(refused("1\n1\nnan\n1\n"), 3, "row 2 (counted from 0) is nan");
  expect_failure(refused("1,1\n1,1\n1,1\n1,1\n"), 2, "give one value per query");
  expect_failure(run_kith({"radius", path("p.csv")}), 2, "--radius is required, or --radius-file with a radius");
  expect_failure(run_kith({"radius", path("p.csv"), "-r", "1", "--radius-file", path("bad.csv")}), 2,
                 "leave one of them out");
  expect_failure(run_kith({"radius", "-", "--radius-file", "-"}, kPointsOnLine), 2, "cannot both be standard input");
}

TEST_F(KnnCommand, PrintsCsvWithoutOut) {
  const Outcome outcome = run_kith({"knn", write("p.csv", kPointsOnLine), "-k", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out,
            "query,rank,index,distance\n0,0,0,0\n0,1,1,1\n1,0,1,0\n1,1,0,1\n2,0,2,0\n2,1,1,2\n3,0,3,0\n3,1,2,4\n");
  EXPECT_PRED2(has, outcome.err, "2 nearest neighbours of each of 4 queries among 4 points");
}

TEST_F(KnnCommand, OrdersByInnerProduct) {
  write("p.csv", "1,0\n0.5,2\n-3,1\n0,0\n");
  write("q.csv", "2,1\n");
  for (const char* name : {"ip", "inner"}) {
    const Outcome outcome = run_kith({"knn", path("p.csv"), path("q.csv"), "-k", "5", "--metric", name, "--json"});
    const json report = json::parse(outcome.out);
    EXPECT_EQ(report["metric"], "ip");
    EXPECT_EQ(report["engine"], "brute");
  }
  EXPECT_EQ(run_kith({"knn", path("p.csv"), path("q.csv"), "-k", "5", "--metric", "ip", "--quiet"}).out,
            "query,rank,index,distance\n0,0,1,-3\n0,1,0,-2\n0,2,3,0\n0,3,2,5\n0,4,4,inf\n");
  ASSERT_EQ(run_kith({"build", path("p.csv"), "--metric", "ip", "--out", path("p.kith")}).code, 0);
  EXPECT_EQ(run_kith({"knn", path("p.kith"), path("q.csv"), "-k", "2", "--quiet"}).out,
            "query,rank,index,distance\n0,0,1,-3\n0,1,0,-2\n");
  ASSERT_EQ(run_kith({"knn", path("p.kith"), path("q.csv"), "-k", "3", "--out", path("n.npz")}).code, 0);
  EXPECT_EQ(run_kith({"verify", path("n.npz"), path("p.csv"), path("q.csv"), "--metric", "ip"}).code, 0);
  EXPECT_EQ(run_kith({"verify", path("n.npz"), path("p.csv"), path("q.csv"), "--metric", "l2"}).code, 3);
  EXPECT_PRED2(has, run_kith({"info", path("p.kith")}).out, "metric        ip\n");
}

TEST_F(KnnCommand, InnerProductsAreNoDistances) {
  write("p.csv", kPointsOnLine);
  const auto knn = [&](const std::vector<std::string>& more) {
    std::vector<std::string> line{"knn", path("p.csv"), "-k", "2", "--metric", "ip"};
    line.insert(line.end(), more.begin(), more.end());
    return run_kith(line);
  };
  expect_failure(knn({"--engine", "kdtree"}), 2, "the metric ip needs engine brute");
  expect_failure(knn({"--within", "1"}), 2, "max_distance is for distances");
  expect_failure(knn({"--squared"}), 2, "not for ip");
  expect_failure(knn({"--period", "10"}), 2, "not for ip");
  expect_failure(run_kith({"radius", path("p.csv"), "-r", "1", "--metric", "ip"}), 2, "--metric ip has no distances");
  ASSERT_EQ(run_kith({"build", path("p.csv"), "--metric", "ip", "--out", path("p.kith")}).code, 0);
  expect_failure(run_kith({"radius", path("p.kith"), "-r", "1"}), 2, "not for the metric ip");
  expect_failure(run_kith({"dedupe", path("p.csv"), "--tolerance", "1", "--metric", "ip"}), 2,
                 "a tolerance is a distance");
}

TEST_F(KnnCommand, QuietSaysNothing) {
  const Outcome outcome =
      run_kith({"knn", write("p.csv", kPointsOnLine), "-k", "1", "--quiet", "--out", path("n.npz")});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out + outcome.err, "");
  EXPECT_EQ(files(), (std::vector<std::string>{"n.npz", "p.csv"}));
}

TEST_F(KnnCommand, NpzAndCsvHoldTheSame) {
  write("p.csv", kPointsOnLine);
  ASSERT_EQ(run_kith({"knn", path("p.csv"), "-k", "2", "--out", path("n.npz")}).code, 0);
  ASSERT_EQ(run_kith({"knn", path("p.csv"), "-k", "2", "--out", path("n.csv")}).code, 0);
  const Neighbors found = saved("n.npz");
  EXPECT_EQ(found.queries(), 4u);
  EXPECT_EQ(found.k(), 2u);
  EXPECT_EQ(found.missing(), 4u);
  EXPECT_EQ(found.index(3, 1), 2u);
  EXPECT_EQ(found.distance(3, 1), 4.0);
  EXPECT_EQ(content(path("n.csv")), run_kith({"knn", path("p.csv"), "-k", "2", "--out", "-"}).out);
}

TEST_F(KnnCommand, ReportsAsJson) {
  write("p.csv", "0,0\n1,1\n2,2\n");
  write("q.csv", "5,5\n");
  const Outcome outcome = run_kith({"knn", path("p.csv"), path("q.csv"), "-k", "2", "--threads", "1", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.err, "");
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["points"], 3);
  EXPECT_EQ(report["queries"], 1);
  EXPECT_EQ(report["k"], 2);
  EXPECT_EQ(report["engine"], "brute");
  EXPECT_EQ(report["device"], "cpu");
  EXPECT_EQ(report["threads"], 1);
  EXPECT_EQ(report["dims"], 2);
  EXPECT_EQ(report["dtype"], "f64");
  EXPECT_EQ(report["metric"], "l2");
  EXPECT_EQ(report["skipped_points"], 0);
  for (const char* key : {"read_ms", "build_ms", "query_ms", "write_ms"}) {
    ASSERT_TRUE(report.contains(key)) << key;
    EXPECT_GE(report[key].get<double>(), 0) << key;
  }
  const Outcome both = run_kith({"knn", path("p.csv"), "-k", "2", "--json", "--out", path("n.npz")});
  EXPECT_EQ(json::parse(both.out)["queries"], 3);
  EXPECT_EQ(saved("n.npz").queries(), 3u);
}

TEST_F(KnnCommand, QueriesTakeTheTypeOfThePoints) {
  ASSERT_EQ(run_kith({"generate", "--points", "20", "--out", path("p.npy")}).code, 0);
  ASSERT_EQ(run_kith({"generate", "--points", "5", "--seed", "9", "--dtype", "f64", "--out", path("q.npy")}).code, 0);
  const Outcome outcome =
      run_kith({"knn", path("p.npy"), path("q.npy"), "-k", "3", "--out", path("n.npz"), "--explain"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.err, "queries are read as f32, the type of the points");
  EXPECT_EQ(saved("n.npz").dtype(), DType::f32);
  EXPECT_EQ(saved("n.npz").queries(), 5u);
}

TEST_F(KnnCommand, ExcludeSelfKeepsDuplicates) {
  write("p.csv", "5\n5\n9\n");
  ASSERT_EQ(run_kith({"knn", path("p.csv"), "-k", "1", "--exclude-self", "--out", path("n.npz")}).code, 0);
  const Neighbors found = saved("n.npz");
  EXPECT_EQ(found.index(0, 0), 1u);
  EXPECT_EQ(found.index(1, 0), 0u);
  EXPECT_EQ(found.index(2, 0), 0u);
  expect_failure(run_kith({"knn", path("p.csv"), path("p.csv"), "-k", "1", "--exclude-self"}), 2, "leave QUERIES out");
}

TEST_F(KnnCommand, MissingNeighboursHaveTheNumberOfPoints) {
  write("p.csv", "0\n1\n");
  ASSERT_EQ(run_kith({"knn", path("p.csv"), "-k", "4", "--out", path("n.npz")}).code, 0);
  const Neighbors found = saved("n.npz");
  EXPECT_EQ(found.k(), 4u);
  EXPECT_EQ(found.index(0, 2), 2u);
  EXPECT_EQ(found.distance(0, 3), std::numeric_limits<double>::infinity());
  ASSERT_EQ(run_kith({"knn", path("p.csv"), "-k", "0", "--out", path("zero.npz")}).code, 0);
  EXPECT_EQ(saved("zero.npz").k(), 0u);
  EXPECT_EQ(saved("zero.npz").queries(), 2u);
}

TEST_F(KnnCommand, SkippedRowsKeepTheNumbersOfTheOthers) {
  write("p.csv", "0\nnan\n3\ninf\n4\n");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "2"}), 3, "row");
  const Outcome outcome = run_kith({"knn", path("p.csv"), "-k", "2", "--skip-nonfinite", "--out", path("n.npz")});
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.err, "2 points and 2 queries with NaN or infinity were left out");
  const Neighbors found = saved("n.npz");
  EXPECT_EQ(found.queries(), 5u);
  EXPECT_EQ(found.index(2, 0), 2u);
  EXPECT_EQ(found.index(2, 1), 4u);
  EXPECT_EQ(found.index(1, 0), 5u);
  const json report = json::parse(run_kith({"knn", path("p.csv"), "-k", "2", "--skip-nonfinite", "--json"}).out);
  EXPECT_EQ(report["points"], 5);
  EXPECT_EQ(report["skipped_points"], 2);
  EXPECT_EQ(report["skipped_queries"], 2);
  write("gap.csv", "x,y\n0,0\n1,\n1,1\n");
  expect_failure(run_kith({"knn", path("gap.csv"), "-k", "1"}), 3, "gap.csv");
  EXPECT_EQ(run_kith({"knn", path("gap.csv"), "-k", "1", "--skip-nonfinite"}).code, 0);
}

TEST_F(KnnCommand, ReadsStandardInput) {
  const Outcome points = run_kith({"knn", "-", "-k", "1", "--exclude-self"}, kPointsOnLine);
  EXPECT_EQ(points.code, 0) << points;
  EXPECT_EQ(points.out, "query,rank,index,distance\n0,0,1,1\n1,0,0,1\n2,0,1,2\n3,0,2,4\n");
  const Outcome queries = run_kith({"knn", write("p.csv", kPointsOnLine), "-", "-k", "1"}, "6\n");
  EXPECT_EQ(queries.out, "query,rank,index,distance\n0,0,3,1\n");
  expect_failure(run_kith({"knn", "-", "-", "-k", "1"}, kPointsOnLine), 2, "cannot both be standard input");
}

TEST_F(KnnCommand, MetricsAndSquaredDistances) {
  write("p.csv", "0,0\n");
  write("q.csv", "3,4\n");
  const auto distance = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"knn", path("p.csv"), path("q.csv"), "-k", "1", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words).out;
  };
  const std::string head = "query,rank,index,distance\n0,0,0,";
  EXPECT_EQ(distance({}), head + "5\n");
  EXPECT_EQ(distance({"--squared"}), head + "25\n");
  EXPECT_EQ(distance({"--metric", "l1"}), head + "7\n");
  EXPECT_EQ(distance({"--metric", "linf"}), head + "4\n");
  EXPECT_EQ(run_kith({"knn", path("q.csv"), "-k", "1", "--metric", "l1", "--squared"}).code, 2);
  EXPECT_EQ(run_kith({"knn", path("p.csv"), "-k", "1", "--metric", "cosine"}).code, 3);  // a zero vector has no angle
}

TEST_F(KnnCommand, TheAnswerDoesNotDependOnThreads) {
  ASSERT_EQ(run_kith({"generate", "--shape", "grid", "--points", "3000", "--out", path("p.npy")}).code, 0);
  ASSERT_EQ(run_kith({"knn", path("p.npy"), "-k", "9", "--threads", "1", "--out", path("a.npz")}).code, 0);
  ASSERT_EQ(run_kith({"knn", path("p.npy"), "-k", "9", "--threads", "3", "--out", path("b.npz")}).code, 0);
  EXPECT_EQ(content(path("a.npz")), content(path("b.npz")));
}

TEST_F(KnnCommand, LabelsAreNoCoordinates) {
  write("p.csv", "x,class\n1,red\n2,blue\n9,red\n");
  const Outcome outcome = run_kith({"knn", path("p.csv"), "-k", "1", "--label", "class", "--exclude-self"});
  EXPECT_EQ(outcome.out, "query,rank,index,distance\n0,0,1,1\n1,0,0,1\n2,0,1,7\n") << outcome;
}

TEST_F(KnnCommand, ExplainsItselfOnStandardError) {
  const Outcome outcome = run_kith({"knn", write("p.csv", kPointsOnLine), "-k", "3", "--explain", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.err, "explain: read " + path("p.csv") + ": text, 4 points of 1 dimension, f64, 32 B\n");
  EXPECT_PRED2(has, outcome.err, "explain: the result will take 144 B: 4 queries x 3 neighbours, 12 bytes each\n");
  EXPECT_PRED2(has, outcome.err, "explain: search: brute on cpu: ");
  EXPECT_PRED2(has, outcome.err, "brute");
  EXPECT_TRUE(json::accept(outcome.out));
}

TEST_F(KnnCommand, WhatCannotBeIsRefusedBeforeTheWork) {
  write("p.csv", kPointsOnLine);
  write("wide.csv", "1,2\n3,4\n");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--out", path("n.txt")}), 2, ".npz, .csv, .tsv or .mtx");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--out", path("no/n.npz")}), 5, "cannot be created");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--json", "--out", "-"}), 2, "--json and --out -");
  expect_failure(run_kith({"knn", path("p.csv"), path("wide.csv"), "-k", "1"}), 2, "2 dimensions");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--engine", "covertree", "--metric", "lp:3"}), 2,
                 "the metric lp:3 needs engine brute or kdtree");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--engine", "covertree", "--period", "9"}), 2,
                 "periodic axes need engine brute or kdtree");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "1", "--columns", "nosuch"}), 2, "nosuch");
  expect_failure(run_kith({"knn", path("p.csv"), "-k", "4000000000"}), 6,
                 "would take 192 GB (4 x 4 000 000 000 x 12 bytes)");
  EXPECT_EQ(files(), (std::vector<std::string>{"p.csv", "wide.csv"}));
}

TEST_F(RadiusCommand, FindsAllWithinTheRadius) {
  write("p.csv", kPointsOnLine);
  const Outcome outcome = run_kith({"radius", path("p.csv"), "-r", "2"});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_EQ(outcome.out,
            "query,rank,index,distance\n0,0,0,0\n0,1,1,1\n1,0,1,0\n1,1,0,1\n1,2,2,2\n2,0,2,0\n2,1,1,2\n3,0,3,0\n");
  ASSERT_EQ(run_kith({"radius", path("p.csv"), "--radius", "2", "--exclude-self", "--out", path("n.npz")}).code, 0);
  const NeighborLists lists = saved("n.npz");
  EXPECT_EQ(lists.queries(), 4u);
  EXPECT_EQ(lists.count(1), 2u);
  EXPECT_EQ(lists.count(3), 0u);
  EXPECT_EQ(lists.index(1, 1), 2u);
  ASSERT_EQ(run_kith({"radius", path("p.csv"), "-r", "2", "--max-neighbors", "1", "--out", path("one.npz")}).code, 0);
  EXPECT_EQ(saved("one.npz").indices().size(), 4u);
}

TEST_F(RadiusCommand, Counts) {
  write("p.csv", kPointsOnLine);
  EXPECT_EQ(run_kith({"radius", path("p.csv"), "-r", "2", "--count"}).out, "query,count\n0,2\n1,3\n2,2\n3,1\n");
  EXPECT_EQ(run_kith({"radius", path("p.csv"), "-r", "inf", "--count"}).out, "query,count\n0,4\n1,4\n2,4\n3,4\n");
  EXPECT_EQ(run_kith({"radius", path("p.csv"), "-r", "0", "--count", "--exclude-self"}).out,
            "query,count\n0,0\n1,0\n2,0\n3,0\n");
  EXPECT_EQ(run_kith({"radius", path("p.csv"), "-r", "2", "--count", "--out", path("c.npz")}).code, 0);
  EXPECT_EQ(files(), (std::vector<std::string>{"c.npz", "p.csv"}));
  expect_failure(run_kith({"radius", path("p.csv"), "-r", "2", "--count", "--max-neighbors", "2"}), 2,
                 "--max-neighbors");
}

TEST_F(RadiusCommand, ReportsAsJson) {
  write("p.csv", kPointsOnLine);
  write("q.csv", "2\n");
  const Outcome outcome = run_kith({"radius", path("p.csv"), path("q.csv"), "-r", "1", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["points"], 4);
  EXPECT_EQ(report["queries"], 1);
  EXPECT_EQ(report["radius"], 1.0);
  EXPECT_EQ(report["neighbors"], 2);
  for (const char* key : {"engine", "device", "threads", "read_ms", "build_ms", "query_ms", "write_ms"}) {
    EXPECT_TRUE(report.contains(key)) << key;
  }
}

TEST(BenchCommand, TimesTheQuickSuite) {
  const Outcome outcome = run_kith({"bench", "--quick", "--json", "--threads", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome;
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["threads"], 2);
  ASSERT_GE(report["cases"].size(), 5u);
  for (const json& one : report["cases"]) {
    EXPECT_GT(one["query_ms"].get<double>(), 0);
    EXPECT_GT(one["ns_per_pair"].get<double>(), 0);
    EXPECT_GT(one["queries_per_second"].get<double>(), 0);
    EXPECT_TRUE(one["engine"] == "brute" || one["engine"] == "kdtree") << one["engine"];  // what auto takes
  }
  expect_failure(run_kith({"bench", "--quick", "--json", "--engine", "fastest"}), 2, "fastest");
}

TEST_F(KnnCommand, DegreesInAPlaneGetANote) {
  const std::string places = write("places.csv", "name,Lon,Latitude\na,179.9,60\nb,-179.9,60\nc,170,60\n");
  const std::vector<std::string> words = {"knn",       places,         "-k",    "1",
                                          "--columns", "Lon,Latitude", "--out", path("o.csv")};
  EXPECT_PRED2(has, run_kith(words).err, "kith: note: Lon and Latitude are compared by l2 as in a plane");
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), words.begin(), words.end());
    return run_kith(more).err;
  };
  EXPECT_PRED2(has, with({"--metric", "l1"}), "--metric haversine:metres --columns Latitude,Lon");
  EXPECT_FALSE(has(with({"--metric", "cosine"}), "as in a plane"));
  EXPECT_FALSE(has(with({"--quiet"}), "as in a plane"));
  EXPECT_FALSE(has(run_kith({"knn", write("xy.csv", "x,lat\n1,2\n3,4\n"), "-k", "1"}).err, "as in a plane"));
  EXPECT_PRED2(has, run_kith({"radius", places, "-r", "1", "--columns", "2,3"}).err, "as in a plane");
  const Outcome classified =
      run_kith({"classify", "--train", places, "--test", places, "--label", "name", "-k", "1", "--out", path("c.csv")});
  EXPECT_PRED2(has, classified.err, "as in a plane");
}

TEST_F(KnnCommand, AnUnknownMetricListsAllThereAre) {
  const std::string file = write("p.csv", "1,2\n");
  for (const std::string command : {"knn", "radius", "build", "dedupe"}) {
    const Outcome outcome = run_kith({command, file, "--metric", "euclid"});
    EXPECT_EQ(outcome.code, 2) << outcome;
    EXPECT_PRED2(has, outcome.err, metric_choices(", "));
    for (const std::string metric : {"hamming", "edit", "jaccard"}) EXPECT_PRED2(has, outcome.err, metric);
  }
}

}  // namespace
}  // namespace kith::test
