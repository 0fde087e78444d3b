// knn and radius with what they are about: columns of queries and neighbours, figures per query, matrices, gzip.
#include "cli/run_command.hpp"

#include <kith/io/read_points.hpp>
#include <kith/io/table.hpp>

#include <cmath>
#include <vector>

namespace kith::test {
namespace {

class ResultColumns : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("towns.csv", "town,x,y,people\nA,0,0,10\nB,3,4,20\nC,6,8,30\n");
    write("trips.csv", "x,y,who\n0,1,me\n6,7,you\n");
  }
};

TEST_F(ResultColumns, StandBesideEachPair) {
  const std::vector<std::string> words = {"knn", path("towns.csv"), path("trips.csv"), "-k", "1", "--columns", "x,y",
                                          "-q",  "--with"};
  const auto with = [&](const std::string& what, std::vector<std::string> more = {}) {
    std::vector<std::string> all = words;
    all.push_back(what);
    all.insert(all.end(), more.begin(), more.end());
    const Outcome outcome = run_kith(all);
    EXPECT_EQ(outcome.code, 0) << outcome;
    return outcome.out;
  };
  EXPECT_EQ(with("all"),
            "query,rank,index,distance,query_x,query_y,query_who,neighbor_town,neighbor_x,neighbor_y,neighbor_people\n"
            "0,0,0,1,0,1,me,A,0,0,10\n1,0,2,1,6,7,you,C,6,8,30\n");
  EXPECT_EQ(with("points"),
            "query,rank,index,distance,query_x,query_y,neighbor_x,neighbor_y\n0,0,0,1,0,1,0,0\n1,0,2,1,6,"
            "7,6,8\n");
  EXPECT_EQ(with("names"), "query,rank,index,distance,query_who,neighbor_town\n0,0,0,1,me,A\n1,0,2,1,you,C\n");
  EXPECT_EQ(with("people"), "query,rank,index,distance,neighbor_people\n0,0,0,1,10\n1,0,2,1,30\n");
  EXPECT_EQ(with("labels", {"--label", "town"}), "query,rank,index,distance,neighbor_town\n0,0,0,1,A\n1,0,2,1,C\n");
  with("all", {"--out", path("near.tsv.gz")});
  EXPECT_EQ(io::read_table(path("near.tsv.gz")).columns.size(), 11u);
  std::vector<std::string> wrong = words;
  wrong.push_back("speed");
  expect_failure(run_kith(wrong), 2, "neither the points nor the queries have such a column");
  wrong.insert(wrong.end(), {"--out", path("n.npz")});
  expect_failure(run_kith(wrong), 2, "write .csv or .tsv");
}

TEST_F(ResultColumns, OfRadiusAndOfSelf) {
  EXPECT_EQ(
      run_kith({"radius", path("towns.csv"), "-r", "5", "--columns", "x,y", "--with", "town", "--exclude-self", "-q"})
          .out,
      "query,rank,index,distance,query_town,neighbor_town\n0,0,1,5,A,B\n1,0,0,5,B,A\n1,1,2,5,B,C\n2,0,1,5,C,B\n");
  // Missing neighbours have no line.
  EXPECT_EQ(
      run_kith({"knn", path("towns.csv"), "-k", "5", "--within", "1", "--columns", "x,y", "--with", "town", "-q"}).out,
      "query,rank,index,distance,query_town,neighbor_town\n0,0,0,0,A,A\n1,0,1,0,B,B\n2,0,2,0,C,C\n");
}

TEST_F(ResultColumns, OfWordsAndNamedSequences) {
  write("words.txt", "cat\ncar\ndog\n");
  EXPECT_EQ(
      run_kith({"knn", path("words.txt"), "-k", "1", "--metric", "edit", "--exclude-self", "--with", "names", "-q"})
          .out,
      "query,rank,index,distance,query_text,neighbor_text\n0,0,1,1,cat,car\n1,0,0,1,car,cat\n2,0,0,3,dog,cat\n");
  write("s.fasta", ">one\nACGT\n>two\nACGA\n");
  EXPECT_EQ(
      run_kith({"knn", path("s.fasta"), "-k", "1", "--metric", "edit", "--exclude-self", "--with", "names", "-q"}).out,
      "query,rank,index,distance,query_name,neighbor_name\n0,0,1,1,one,two\n1,0,0,1,two,one\n");
}

TEST_F(ResultColumns, OfStringsThatSetsAreMadeOf) {
  write("titles.csv", "id,title\n1,red car\n2,blue car\n3,old red car\n");
  const Outcome outcome = run_kith({"knn", path("titles.csv"), "-k", "1", "--metric", "jaccard", "--words",
                                    "--text-column", "title", "--exclude-self", "--with", "names", "-q"});
  EXPECT_EQ(outcome.code, 0) << outcome;
  EXPECT_PRED2(has, outcome.out, ",red car,old red car\n");
}

TEST_F(ResultColumns, StatsStandBesideTheQueries) {
  EXPECT_EQ(run_kith({"knn", path("towns.csv"), "-k", "2", "--exclude-self", "--columns", "x,y", "--stats", "-q"}).out,
            "town,x,y,people,nearest_distance,mean_distance,kth_distance,neighbors\n"
            "A,0,0,10,5,7.5,10,2\nB,3,4,20,5,5,5,2\nC,6,8,30,5,7.5,10,2\n");
  EXPECT_EQ(run_kith({"knn", path("towns.csv"), "-k", "2", "--within", "1", "--exclude-self", "--columns", "x,y",
                      "--stats", "--query-columns", "x,y", path("trips.csv"), "-q"})
                .code,
            2);  // --exclude-self is for points that are their own queries
  EXPECT_EQ(
      run_kith({"radius", path("towns.csv"), path("trips.csv"), "-r", "2", "--columns", "x,y", "--stats", "-q"}).out,
      "x,y,who,nearest_distance,mean_distance,farthest_distance,neighbors\n0,1,me,1,1,1,1\n6,7,you,1,1,1,1\n");
  EXPECT_EQ(
      run_kith({"radius", path("towns.csv"), path("trips.csv"), "-r", "0.5", "--columns", "x,y", "--stats", "-q"}).out,
      "x,y,who,nearest_distance,mean_distance,farthest_distance,neighbors\n0,1,me,nan,nan,inf,0\n6,7,you,nan,nan,inf,"
      "0\n");
}

TEST_F(ResultColumns, OutliersAreRemovedByTwoCommands) {
  write("scan.ply",
        "ply\nformat ascii 1.0\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\nproperty uchar "
        "red\nend_header\n0 0 0 1\n0.1 0 0 2\n0 0.1 0 3\n9 9 9 4\n0.1 0.1 0 5\n");
  for (const std::string form : {"ply", "pcd", "las"}) {
    SCOPED_TRACE(form);
    const std::string stats = path("stats." + form);
    ASSERT_EQ(run_kith({"knn", path("scan.ply"), "-k", "2", "--exclude-self", "--stats", "--out", stats}).code, 0);
    const Outcome outcome =
        run_kith({"select", stats, "--where", "mean_distance < 0.2", "--out", path("clean.csv"), "--columns", "red"});
    ASSERT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(content(path("clean.csv")), "red\n1\n2\n3\n5\n");
  }
  // Figures are replaced when they are computed again, and --stats goes without saying for a cloud.
  ASSERT_EQ(run_kith({"knn", path("stats.ply"), "-k", "3", "--out", path("again.ply")}).code, 0);
  const io::Table again = io::read_table(path("again.ply"));
  EXPECT_EQ(again.columns.size(), 8u);
  EXPECT_EQ(again.columns[*again.find("neighbors")].number(0), 3);
}

TEST_F(ResultColumns, MatrixMarketHoldsTheDistances) {
  ASSERT_EQ(
      run_kith({"knn", path("towns.csv"), path("trips.csv"), "-k", "2", "--columns", "x,y", "--out", path("d.mtx")})
          .code,
      0);
  EXPECT_PRED2(has, content(path("d.mtx")), "%%MatrixMarket matrix coordinate real general\n2 3 4\n1 1 1\n1 2 4.24264");
  ASSERT_EQ(run_kith({"radius", path("towns.csv"), "-r", "5", "--columns", "x,y", "--out", path("r.mtx")}).code, 0);
  EXPECT_EQ(content(path("r.mtx")),
            "%%MatrixMarket matrix coordinate real general\n3 3 7\n1 1 0\n1 2 5\n2 2 0\n2 1 5\n2 3 5\n3 3 0\n3 2 5\n");
  expect_failure(run_kith({"knn", path("towns.csv"), "-k", "1", "--columns", "x,y", "--stats", "--out", path("s.mtx")}),
                 2, "a matrix holds distances only");
}

TEST_F(ResultColumns, ListsAreCompressed) {
  ASSERT_EQ(run_kith({"knn", path("towns.csv"), "-k", "1", "--columns", "x,y", "--out", path("n.csv.gz")}).code, 0);
  const io::PointFile lists = io::read_points(path("n.csv.gz"));
  EXPECT_EQ(lists.points.rows(), 3u);
  EXPECT_EQ(lists.columns, (std::vector<std::string>{"query", "rank", "index", "distance"}));
  expect_failure(run_kith({"knn", path("towns.csv"), "-k", "1", "--out", path("n.docx")}), 2, "choose one of these");
  expect_failure(run_kith({"radius", path("towns.csv"), "-r", "1", "--count", "--stats", "--columns", "x,y"}), 2,
                 "--count");
  expect_failure(run_kith({"knn", path("towns.csv"), "-k", "1", "--stats", "--with", "all"}), 2, "leave --with out");
}

}  // namespace
}  // namespace kith::test
