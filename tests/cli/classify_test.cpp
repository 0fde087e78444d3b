// kith classify: class files against a plain loop, tables with names and without, scores, the choice of k, regression,
// and everything that is refused.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

#include <random>
#include <tuple>
#include <vector>

namespace kith::test {
namespace {

using Json = nlohmann::json;
using Words = std::vector<std::string>;

class ClassifyCommand : public CommandTest {
 protected:
  static Outcome classify(Words more) {
    more.insert(more.begin(), "classify");
    return run_kith(more);
  }

  /// What stands on standard output after success.
  static std::string rows_of(Words more) {
    more.push_back("-q");
    const Outcome outcome = classify(more);
    EXPECT_EQ(outcome.code, 0) << outcome;
    EXPECT_EQ(outcome.err, "");
    return outcome.out;
  }

  /// `--train TRAIN --test TEST` and more.
  Words tables(const std::string& train, const std::string& test, Words more) const {
    Words words = {"--train", path(train), "--test", path(test)};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
};

/// Points with small whole coordinates, so that distances are exact and many of them equal.
struct PlainClasses {
  std::vector<std::vector<int>> rows;
  std::vector<int> labels;
  std::size_t train = 0;
  int classes = 0;

  PlainClasses(std::size_t old_ones, std::size_t new_ones, int class_count, std::size_t dims, unsigned seed)
      : train(old_ones), classes(class_count) {
    std::mt19937 random(seed);
    for (std::size_t i = 0; i < old_ones + new_ones; ++i) {
      rows.emplace_back();
      for (std::size_t d = 0; d < dims; ++d) rows.back().push_back(static_cast<int>(random() % 12) - 6);
      labels.push_back(i < old_ones ? static_cast<int>(random() % static_cast<unsigned>(class_count)) : -1);
    }
  }

  std::string text(const std::vector<int>& with) const {
    std::ostringstream out;
    out << train << ',' << rows.size() - train << ',' << classes << ',' << rows[0].size() << '\n';
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const int x : rows[i]) out << x << ".00,";
      out << with[i] << '\n';
    }
    return out.str();
  }

  /// One point after the other: sort all that may vote, count, take the first of the largest parties in the order of
  /// `ties`.
  std::vector<int> by_the_loop(std::size_t k, bool sequential, const std::string& ties = "nearest") const {
    std::vector<int> given = labels;
    for (std::size_t i = train; i < rows.size(); ++i) {
      std::vector<std::pair<int, std::size_t>> near;
      for (std::size_t j = 0; j < (sequential ? i : train); ++j) {
        int sum = 0;
        for (std::size_t d = 0; d < rows[i].size(); ++d) sum += (rows[i][d] - rows[j][d]) * (rows[i][d] - rows[j][d]);
        near.emplace_back(sum, j);
      }
      std::sort(near.begin(), near.end());
      near.resize(std::min(k, near.size()));
      std::vector<int> votes(static_cast<std::size_t>(classes));
      for (const auto& [sum, j] : near) ++votes[static_cast<std::size_t>(given[j])];
      const int most = *std::max_element(votes.begin(), votes.end());
      const auto first = std::find_if(near.begin(), near.end(), [&](const auto& one) {
        return votes[static_cast<std::size_t>(given[one.second])] == most;
      });
      given[i] = given[first->second];
      if (ties == "lowest") given[i] = static_cast<int>(std::find(votes.begin(), votes.end(), most) - votes.begin());
      if (ties == "highest") {
        given[i] = static_cast<int>(votes.rend() - std::find(votes.rbegin(), votes.rend(), most)) - 1;
      }
    }
    return given;
  }
};

TEST_F(ClassifyCommand, ClassFilesAreFilledInAsByTheLoop) {
  const PlainClasses points(40, 60, 5, 2, 7);
  const std::string file = write("c.csv", points.text(points.labels));
  for (const std::size_t k : {1u, 4u, 40u}) {
    for (const std::string mode : {"sequential", "independent"}) {
      SCOPED_TRACE(mode + " k " + std::to_string(k));
      const std::string expected = points.text(points.by_the_loop(k, mode == "sequential"));
      const Words common = {file, "-k", std::to_string(k), "--mode", mode};
      for (const Words& more : std::vector<Words>{{"--engine", "brute", "--threads", "1", "--check"},
                                                  {"--engine", "kdtree", "--threads", "3", "--check"},
                                                  {"--engine", "covertree", "--device", "cpu"},
                                                  {"--device", "auto", "--dtype", "f32", "--check"}}) {
        Words words = common;
        words.insert(words.end(), more.begin(), more.end());
        EXPECT_EQ(rows_of(words), expected) << more[1];
      }
    }
  }
  // One after the other is the default, five vote, and more may than there are training points.
  EXPECT_EQ(rows_of({file}), points.text(points.by_the_loop(5, true)));
  EXPECT_EQ(rows_of({file, "-k", "99"}), points.text(points.by_the_loop(99, true)));
  expect_failure(classify({file, "-k", "100"}), 2, "k is 100");
  expect_failure(classify({file, "-k", "41", "--mode", "independent"}), 2, "k is 41");
}

TEST_F(ClassifyCommand, TiesGoWhereTheFlagSays) {
  const PlainClasses points(40, 60, 5, 2, 7);
  const std::string file = write("c.csv", points.text(points.labels));
  for (const std::string ties : {"nearest", "lowest", "highest"}) {
    for (const std::string mode : {"sequential", "independent"}) {
      for (const std::size_t k : {2u, 4u, 18u}) {
        EXPECT_EQ(rows_of({file, "-k", std::to_string(k), "--mode", mode, "--ties", ties, "--check"}),
                  points.text(points.by_the_loop(k, mode == "sequential", ties)))
            << mode << " " << ties << " k " << k;
      }
    }
  }
  // Numbers are in the order of their values, text by its bytes; a row without a class changes nothing.
  write("test.csv", "x\n1\n");
  const auto label = [&](const std::string& train, const std::string& ties) {
    write("train.csv", train);
    Words words = tables("train.csv", "test.csv", {"--label", "kind", "-k", "3", "--ties", ties, "--skip-nonfinite"});
    words.push_back("--check");
    return rows_of(words).substr(sizeof "x,predicted\n1," - 1);
  };
  for (const std::string empty : {"", "70,\n"}) {
    const std::string numbers = "x,kind\n0,10\n3,9\n4,100\n" + empty, text = "x,kind\n0,b10\n3,b9\n4,b100\n" + empty;
    EXPECT_EQ(label(numbers, "nearest"), "10\n");
    EXPECT_EQ(label(numbers, "lowest"), "9\n");
    EXPECT_EQ(label(numbers, "highest"), "100\n");
    EXPECT_EQ(label(text, "lowest"), "b10\n");
    EXPECT_EQ(label(text, "highest"), "b9\n");
  }
  const Json report = Json::parse(rows_of({file, "--ties", "lowest", "--json"}));
  EXPECT_EQ(report["ties"], "lowest");
  EXPECT_PRED2(has, classify({file, "--ties", "highest"}).err, "(one after the other, ties highest, l2, uniform");
  // Each by the two others: the nearest alone is right for 1 and 2.
  write("line.csv", "x,kind\n0,a\n1,b\n1.5,b\n");
  const auto right = [&](const std::string& ties) {
    return rows_of({"--train", path("line.csv"), "--label", "kind", "--choose-k", "2..2", "--ties", ties});
  };
  EXPECT_EQ(right("lowest"), "k,right,accuracy\n2,0,0\n");
  EXPECT_EQ(right("nearest"), "k,right,accuracy\n2,2,0.6666666666666666\n");
}

TEST_F(ClassifyCommand, ClassFilesMayBePipedOrComplete) {
  const PlainClasses points(10, 5, 3, 3, 3);
  const std::string expected = points.text(points.by_the_loop(2, true));
  const std::string file = write("c.csv", points.text(points.labels));
  const Outcome piped = run_kith({"classify", "-", "-k", "2", "-q"}, points.text(points.labels));
  EXPECT_EQ(piped.out, expected) << piped;
  const std::string filled = path("filled.csv");
  const Outcome told = classify({file, "-k", "2", "--out", filled, "--explain"});
  ASSERT_EQ(told.code, 0) << told;
  EXPECT_EQ(content(filled), expected);
  EXPECT_PRED2(has, told.err, "5 points labelled by 2 neighbours each among 10 training points (one after the other");
  EXPECT_PRED2(has, told.err, "explain: longest chain of new points that vote on each other: ");
  EXPECT_PRED2(has, told.err, "rows in " + filled);
  EXPECT_EQ(files(), (Words{"c.csv", "filled.csv"}));
  const PlainClasses nothing_new(4, 0, 2, 1, 5);
  const std::string all_known = nothing_new.text(nothing_new.labels);
  EXPECT_EQ(rows_of({write("n.csv", all_known), "-k", "4"}), all_known);
}

TEST_F(ClassifyCommand, BadClassFilesAreNamedAndLeaveNothing) {
  const std::vector<std::tuple<std::string, int, std::string>> cases = {
      {"", 3, "c.csv"},
      {"1,1,2\n1,0\n2,-1\n", 3, "line 1"},
      {"1,2,2,1\n1,0\n2,-1\n", 3, "c.csv"},
      {"1,1,2,1\n1,2\n2,-1\n", 3, "line 2, column 2"},
      {"1,1,2,1\n1,0,5\n2,-1\n", 3, "line 2"},
      {"1,1,2,1\n1,0\nx,-1\n", 3, "line 3, column 1"},
      {"1,1,2,1\nnan,0\n2,-1\n", 3, "line 2, column 1"},
      {"0,1,2,1\n2,-1\n", 3, "no points"}};
  for (const auto& [text, code, part] : cases) {
    SCOPED_TRACE(text);
    expect_failure(classify({write("c.csv", text), "-k", "1", "--out", path("o.csv")}), code, part);
    EXPECT_EQ(files(), Words{"c.csv"});
  }
}

TEST_F(ClassifyCommand, TablesGoTogetherByName) {
  write("train.csv", "x,y,kind\n0,0,ant\n0,1,ant\n9,9,bee\n9,8,bee\n");
  // Another order, a column of text more, and an unknown class.
  write("test.csv", "id,kind,y,x\n\"first, one\",ant,0.50,1\nsecond,bee,7,+8\nthird,wasp,9,9\nfourth,,1,0\n");
  const Outcome told = classify(tables("train.csv", "test.csv", {"--label", "kind", "-k", "3", "--check"}));
  EXPECT_EQ(told.code, 0) << told;
  EXPECT_EQ(told.out,
            "id,kind,y,x,predicted\n\"first, one\",ant,0.50,1,ant\nsecond,bee,7,+8,bee\nthird,wasp,9,9,bee\n"
            "fourth,,1,0,ant\n");
  EXPECT_PRED2(has, told.err, "accuracy 0.6667: 2 of 3 right");
  EXPECT_PRED2(has, told.err, "checked: the plain loop gives the same");
  EXPECT_PRED2(has, told.err,
               "class    members  precision  recall      f1\n"
               "  ant          1     1.0000  1.0000  1.0000\n"
               "  bee          1     0.5000  1.0000  0.6667\n"
               " wasp          1     0.0000  0.0000  0.0000\n"
               "truth  ant  bee   predicted\n"
               "  ant    1    .\n"
               "  bee    .    1\n"
               " wasp    .    1\n");
  EXPECT_PRED2(has, told.err, "1 row of " + path("test.csv") + " has a class that no training point has");
  EXPECT_PRED2(has, told.err, "1 row of " + path("test.csv") + " has no label");
  write("bare.csv", "y,x\n0,1\n8,8\n");
  EXPECT_EQ(rows_of(tables("train.csv", "bare.csv", {"--label", "3", "-k", "1"})), "y,x,predicted\n0,1,ant\n8,8,bee\n");
  // Of five voters one is the point before: three ants.
  EXPECT_EQ(rows_of(tables("train.csv", "bare.csv", {"--label", "kind", "-k", "5", "--mode", "sequential", "--check"})),
            "y,x,predicted\n0,1,ant\n8,8,ant\n");
  // A name that ends with .gz means gzip.
  ASSERT_EQ(
      classify(tables("train.csv", "bare.csv", {"--label", "kind", "-k", "1", "-q", "--out", path("o.csv.gz")})).code,
      0);
  EXPECT_TRUE(content(path("o.csv.gz")).starts_with("\x1f\x8b"));
  EXPECT_EQ(run_kith({"dedupe", path("o.csv.gz"), "--columns", "y,x", "-q"}).out, "y,x,predicted\n0,1,ant\n8,8,bee\n");
  write("other.csv", "x,z\n0,1\n");
  expect_failure(classify(tables("train.csv", "other.csv", {"--label", "kind"})), 2,
                 "other.csv has no column \"y\", which " + path("train.csv") + " has; it has x, z");
}

TEST_F(ClassifyCommand, TablesWithoutNamesGoTogetherByPosition) {
  write("train.csv", "a,0,1\na,0,2\nb,5,5\nb,6,5\n");
  write("test.csv", "b 1 1\nb 5 4\n");
  write("bare.csv", "1,1\n5,4\n");
  EXPECT_EQ(rows_of(tables("train.csv", "test.csv", {"--label", "1", "-k", "1"})), "b 1 1 a\nb 5 4 b\n");
  EXPECT_EQ(rows_of(tables("train.csv", "bare.csv", {"--label", "1", "-k", "1"})), "1,1,a\n5,4,b\n");
  EXPECT_EQ(rows_of(tables("train.csv", "bare.csv", {"--label", "1", "--columns", "3", "-k", "1"})), "1,1,a\n5,4,b\n");
  write("wide.csv", "1,1,1,1\n");
  expect_failure(classify(tables("train.csv", "wide.csv", {"--label", "1"})), 2, "has 4 columns, but");
}

TEST_F(ClassifyCommand, ArraysBecomeTables) {
  ASSERT_EQ(run_kith({"dedupe", write("a.csv", "1,2,0\n3,4,1\n"), "--out", path("a.npy"), "--dtype", "f32", "-q"}).code,
            0);
  ASSERT_EQ(run_kith({"dedupe", write("b.csv", "0.1,2\n3,3\n"), "--out", path("b.npy"), "--dtype", "f32", "-q"}).code,
            0);
  EXPECT_EQ(rows_of(tables("a.npy", "b.npy", {"--label", "3", "-k", "1", "--proba"})),
            "x,y,predicted,p_0,p_1\n0.1,2,0,1,0\n3,3,1,0,1\n");
  EXPECT_EQ(rows_of(tables("a.npy", "a.npy", {"--label", "3", "-k", "1"})), "x,y,label,predicted\n1,2,0,0\n3,4,1,1\n");
  EXPECT_EQ(rows_of(tables("a.npy", "b.npy", {"--regress", "1", "-k", "2"})), "x,y,predicted\n0.1,2,2\n3,3,2\n");
}

TEST_F(ClassifyCommand, WeightsAndSharesAreWritten) {
  write("train.csv", "x,kind\n0,10\n3,9\n4,9\n");
  write("test.csv", "x\n1\n");
  EXPECT_EQ(rows_of(tables("train.csv", "test.csv", {"--label", "kind", "-k", "3"})), "x,predicted\n1,9\n");
  // 1/1 against 1/2 + 1/3; classes that are numbers stand in their order.
  EXPECT_EQ(rows_of(tables("train.csv", "test.csv",
                           {"--label", "kind", "-k", "3", "--weights", "distance", "--proba", "--check"})),
            "x,predicted,p_9,p_10\n1,10,0.45454545454545453,0.5454545454545455\n");
  EXPECT_EQ(rows_of({write("c.csv", "2,1,2,1\n0,0\n9,1\n1,-1\n"), "-k", "2", "--proba"}),
            "2,1,2,1\n0,0\n9,1\n1,0,0.5,0.5\n");
}

TEST_F(ClassifyCommand, ColumnsAreScaledAsTheTrainingPointsSay) {
  write("train.csv", "x,y,kind\n0,0,a\n1,1000,b\n");
  write("test.csv", "x,y\n0,600\n");
  const auto labelled = [&](const std::string& scale) {
    return rows_of(tables("train.csv", "test.csv", {"--label", "kind", "-k", "1", "--scale", scale, "--check"}));
  };
  EXPECT_EQ(labelled("none"), "x,y,predicted\n0,600,b\n");
  EXPECT_EQ(labelled("minmax"), "x,y,predicted\n0,600,a\n");
  EXPECT_EQ(labelled("standard"), "x,y,predicted\n0,600,a\n");
}

TEST_F(ClassifyCommand, ChoosesK) {
  write("train.csv", "x,kind\n0,a\n1,a\n2,b\n10,b\n11,b\n12,b\n");
  const std::string table = "k,right,accuracy\n1,5,0.8333333333333334\n2,5,0.8333333333333334\n";
  const Outcome alone = classify({"--train", path("train.csv"), "--label", "kind", "--choose-k", "1..2"});
  EXPECT_EQ(alone.out, table) << alone;
  EXPECT_PRED2(has, alone.err, "best k: 1 (5 of 6 right, accuracy 0.8333)");
  const std::string from_2 = rows_of({"--train", path("train.csv"), "--label", "kind", "--choose-k", "2..2"});
  EXPECT_EQ(from_2, "k,right,accuracy\n2,5,0.8333333333333334\n");
  const Outcome used = classify(tables("train.csv", "train.csv", {"--label", "kind", "--choose-k", "2"}));
  EXPECT_PRED2(has, used.err, table + "best k: 1");
  EXPECT_PRED2(has, used.out, "x,kind,predicted\n0,a,a\n");
  const Json report = Json::parse(
      rows_of({"--train", path("train.csv"), "--label", "kind", "--choose-k", "3", "--folds", "2", "--json"}));
  EXPECT_EQ(report["choice"]["folds"], 2);
  EXPECT_EQ(report["choice"]["table"].size(), 3u);
  EXPECT_EQ(report["choice"]["best"], report["k"]);
  const std::string file = write("c.csv", "4,1,2,1\n0,0\n1,0\n8,1\n9,1\n7,-1\n");
  EXPECT_EQ(rows_of({file, "--choose-k", "1..1"}), "k,right,accuracy\n1,4,1\n");
  EXPECT_EQ(rows_of({file, "--choose-k", "1..3", "--out", "-"}), "4,1,2,1\n0,0\n1,0\n8,1\n9,1\n7,1\n");
  expect_failure(classify({file, "--choose-k", "4"}), 2, "k up to 4");
  expect_failure(classify({file, "--choose-k", "2", "--folds", "5"}), 2, "folds");
}

TEST_F(ClassifyCommand, PredictsValues) {
  write("train.csv", "x,price\n0,1\n1,3\n5,10\n");
  write("test.csv", "price,x\n2,0.5\n8,4\n");
  const Outcome told = classify(tables("train.csv", "test.csv", {"--regress", "price", "-k", "2", "--check"}));
  EXPECT_EQ(told.out, "price,x,predicted\n2,0.5,2\n8,4,6.5\n") << told;
  EXPECT_PRED2(has, told.err, "mean absolute error 0.75, root mean squared error 1.06066, largest error 1.5, R² 0.875");
  EXPECT_EQ(rows_of(tables("train.csv", "test.csv",
                           {"--regress", "price", "-k", "2", "--weights", "distance", "--check", "--scale", "minmax"})),
            "price,x,predicted\n2,0.5,2\n8,4,8.25\n");
  write("bare.csv", "x\n4\n");
  EXPECT_EQ(rows_of(tables("train.csv", "bare.csv", {"--regress", "price", "-k", "1"})), "x,predicted\n4,10\n");
  EXPECT_PRED2(has, rows_of({"--train", path("train.csv"), "--regress", "price", "--choose-k", "2"}), "k,error\n1,");
  const Json report = Json::parse(rows_of(tables("train.csv", "test.csv", {"--regress", "2", "-k", "2", "--json"})));
  EXPECT_EQ(report["score"]["rows"], 2);
  EXPECT_EQ(report["score"]["largest_error"], 1.5);
  EXPECT_EQ(report["score"]["r_squared"], 0.875);
}

TEST_F(ClassifyCommand, ReportsAsJson) {
  write("train.csv", "x,kind\n0,a\n9,b\n");
  write("test.csv", "x,kind\n1,a\n2,b\n8,b\n7,c\n");
  const Outcome outcome = classify(
      tables("train.csv", "test.csv", {"--label", "kind", "-k", "1", "--json", "--out", path("o.csv"), "--explain"}));
  ASSERT_EQ(outcome.code, 0) << outcome;
  const Json report = Json::parse(outcome.out);
  EXPECT_EQ(report["points"], 2);
  EXPECT_EQ(report["new_points"], 4);
  EXPECT_EQ(report["classes"], 2);
  EXPECT_EQ(report["mode"], "independent");
  EXPECT_EQ(report["k"], 1);
  EXPECT_EQ(report["score"]["right"], 2);
  EXPECT_EQ(report["score"]["accuracy"], 0.5);
  EXPECT_EQ(report["score"]["rows_of_unknown_classes"], 1);
  EXPECT_EQ(report["score"]["classes"][1]["class"], "b");
  EXPECT_EQ(report["score"]["classes"][1]["precision"], 0.5);
  EXPECT_EQ(report["score"]["confusion"].size(), 4u);
  EXPECT_EQ(report["score"]["confusion"][3], Json({{"truth", "c"}, {"predicted", "b"}, {"rows", 1}}));
  for (const char* key : {"read_ms", "build_ms", "search_ms", "vote_ms", "write_ms"}) {
    EXPECT_TRUE(report[key].is_number()) << key;
  }
  EXPECT_PRED2(has, outcome.err, "explain: engine ");
  EXPECT_PRED2(has, outcome.err, "explain: read ");
  EXPECT_EQ(content(path("o.csv")), "x,kind,predicted\n1,a,a\n2,b,a\n8,b,b\n7,c,b\n");
  const Json filled = Json::parse(rows_of({write("c.csv", "1,2,1,1\n0,0\n1,-1\n2,-1\n"), "-k", "1", "--json"}));
  EXPECT_EQ(filled["depth"], 2);
  EXPECT_EQ(filled["rounds"], 1);
  EXPECT_FALSE(filled.contains("score"));
}

TEST_F(ClassifyCommand, ManyClassesAreLeftToJson) {
  std::string rows = "x,kind\n";
  for (int i = 0; i < 31; ++i) rows += std::to_string(i) + ",k" + std::to_string(i) + "\n";
  write("many.csv", rows);
  const Outcome told = classify(tables("many.csv", "many.csv", {"--label", "kind", "-k", "1"}));
  EXPECT_PRED2(has, told.err, "--json reports each of the 31 classes");
  EXPECT_FALSE(has(told.err, "predicted")) << told;
}

TEST_F(ClassifyCommand, BadRowsAreNamedOrLeftOut) {
  write("good.csv", "x,y,kind\n0,0,a\n9,9,b\n");
  write("bad.csv", "x,y,kind\n0,0,a\n9,?,b\n9,9,\n8,8,b\n");
  write("nan.csv", "x,y,kind\n0,0,a\n9,nan,b\n");
  write("values.csv", "x,y,kind\n0,0,1\n9,1,inf\n");
  const Words flags = {"--label", "kind", "-k", "1", "--out", path("o.csv")};
  expect_failure(classify(tables("bad.csv", "good.csv", flags)), 3, "bad.csv: line 3, column 2 (y)");
  expect_failure(classify(tables("good.csv", "bad.csv", flags)), 3, "bad.csv: line 3, column 2 (y)");
  expect_failure(classify(tables("nan.csv", "good.csv", flags)), 3, "line 3, column 2 (y) is NaN");
  expect_failure(classify(tables("good.csv", "nan.csv", flags)), 3, "line 3, column 2 (y) is NaN");
  expect_failure(classify(tables("values.csv", "values.csv", {"--regress", "kind", "--columns", "x,y"})), 3, "row 1");
  write("bad.csv", "x,y,kind\n0,0,a\n9,9,\n");
  expect_failure(classify(tables("bad.csv", "good.csv", flags)), 3, "bad.csv: row 1 has no label");
  EXPECT_FALSE(has(content(path("o.csv")), "x"));

  write("bad.csv", "x,y,kind\n0,0,a\n9,?,b\n9,9,\n8,8,b\n");
  const Outcome told =
      classify(tables("bad.csv", "bad.csv", {"--label", "kind", "-k", "2", "--skip-nonfinite", "--proba", "--check"}));
  EXPECT_EQ(told.out,
            "x,y,kind,predicted,p_a,p_b\n0,0,a,a,0.5,0.5\n9,?,b,\"\",\"\",\"\"\n9,9,,b,0.5,0.5\n8,8,b,b,0.5,0.5\n")
      << told;
  EXPECT_PRED2(has, told.err, "2 training points and 1 point to be labelled with NaN, infinity or missing values");
  EXPECT_PRED2(has, told.err, "accuracy 1.0000: 2 of 2 right");
}

TEST_F(ClassifyCommand, RefusesFlagsThatMakeNoSense) {
  const std::string file = write("c.csv", "2,1,2,1\n0,0\n9,1\n1,-1\n");
  write("t.csv", "x,kind\n0,a\n9,b\n");
  const std::string t = path("t.csv");
  const std::vector<std::pair<Words, std::string>> cases = {
      {{}, "nothing to learn from"},
      {{file, "-k", "0"}, "-k: 0 is too small"},
      {{file, "--train", t}, "leave --train out"},
      {{file, "--label", "x"}, "leave --label out"},
      {{file, "--regress", "x"}, "leave --regress out"},
      {{file, "--skip-nonfinite"}, "leave --skip-nonfinite out"},
      {{file, "--mode", "both"}, "--mode: "},
      {{file, "--weights", "near"}, "--weights: "},
      {{file, "--ties", "first"}, "--ties: \"first\" is not one of nearest, lowest, highest"},
      {{"--train", t, "--test", t, "--regress", "x", "--ties", "lowest"}, "--ties is for labels"},
      {{file, "--scale", "max"}, "--scale: "},
      {{file, "--weights", "distance", "--metric", "ip"}, "--weights distance"},
      {{file, "--folds", "3"}, "--folds goes with --choose-k"},
      {{file, "--choose-k", "3..1"}, "write 1..3"},
      {{file, "--choose-k", "0..4"}, "--choose-k: 0 is too small"},
      {{file, "--choose-k", "1..x"}, "--choose-k: \"x\""},
      {{file, "--choose-k", "1", "-k", "3"}, "leave one out"},
      {{file, "--choose-k", "1", "--proba"}, "--proba is for what is labelled"},
      {{file, "--json", "--out", "-"}, "standard output"},
      {{file, "--out", path("o.npy")}, "written as text"},
      {{"--train", t, "--test", t}, "needs --label"},
      {{"--train", t, "--label", "kind"}, "needs --test"},
      {{"--test", t, "--label", "kind"}, "nothing to learn from"},
      {{"--train", t, "--label", "kind", "--choose-k", "1", "--out", path("o.csv")}, "--out is for what is labelled"},
      {{"--train", t, "--test", t, "--label", "kind", "--regress", "x"}, "leave one of them out"},
      {{"--train", t, "--test", t, "--regress", "x", "--proba"}, "--proba is for labels"},
      {{"--train", t, "--test", t, "--regress", "x", "--mode", "sequential"}, "--mode sequential is for labels"},
      {{"--train", t, "--test", t, "--regress", ""}, "--regress: the name"},
      {{"--train", t, "--test", t, "--label", "colour"}, "colour"},
      {{"--train", t, "--test", t, "--label", "kind", "-k", "3"}, "k is 3"},
      {{"--train", t, "--test", "-", "--label", "kind"}, "standard input"},
      {{"--train", "-", "--test", t, "--label", "kind"}, "standard input"}};
  for (const auto& [words, part] : cases) expect_failure(classify(words), 2, part);
  expect_failure(classify({path("absent.csv")}), 5, "absent.csv");
  expect_failure(classify({"--train", t, "--test", path("absent.csv"), "--label", "kind"}), 5, "absent.csv");
  expect_failure(classify({file, "--out", path("none/o.csv")}), 5, "none/o.csv");
  expect_failure(classify({"--train", t, "--test", t, "--regress", "kind"}), 3, "kind");
  EXPECT_EQ(files(), (Words{"c.csv", "t.csv"}));
}

TEST_F(ClassifyCommand, InterruptEndsWith130AndLeavesNoFile) {
  // 10^10 pairs, each 16 times `pow`: no machine comes to the end of it.
  ASSERT_EQ(run_kith({"generate", "--points", "100k", "--dims", "16", "--out", path("p.npy"), "-q"}).code, 0);
  RunningCommand::Settings settings;
  settings.words = {"classify", "--train",  path("p.npy"), "--test",   path("p.npy"), "--regress", "1",          "-k",
                    "5",        "--engine", "brute",       "--metric", "lp:2.5",      "--out",     path("o.csv")};
  RunningCommand command(settings);
  ASSERT_TRUE(command.wait_for_work(1));
  command.send(SIGINT);
  expect_failure(command.finish(), 130, "interrupted");
  EXPECT_EQ(files(), Words{"p.npy"});
}

}  // namespace
}  // namespace kith::test
