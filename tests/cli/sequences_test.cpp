// knn, radius, build, info and verify for strings and sets: files, results, indexes, and what makes no sense.
#include "cli/run_command.hpp"

#include <nlohmann/json.hpp>

namespace kith::test {
namespace {

using nlohmann::json;

const std::string kSequenceHead = "query,rank,index,distance\n";

class Sequences : public CommandTest {
 protected:
  void SetUp() override {
    CommandTest::SetUp();
    write("words.txt", "cat\ncart\ndog\nnaïve\n");
    write("asked.txt", "cab\nnaive\n");
    write("sets.txt", "1 2 3\n2,3\n9\n");
    write("dna.fa", ">a\nACGT\n>b\nACGA\n>c\nTTTT\n");
    write("dna.phy", "3 4\na ACGT\nb ACGA\nc TTTT\n");
  }
};

TEST_F(Sequences, WordsByEdits) {
  EXPECT_EQ(run_kith({"knn", path("words.txt"), path("asked.txt"), "-k", "2", "--metric", "edit", "--quiet"}).out,
            kSequenceHead + "0,0,0,1\n0,1,1,2\n1,0,3,1\n1,1,0,4\n");
  EXPECT_EQ(run_kith({"radius", path("words.txt"), "-r", "1", "--metric", "edit", "--exclude-self", "--quiet"}).out,
            kSequenceHead + "0,0,1,1\n1,0,0,1\n");
  EXPECT_EQ(run_kith({"radius", path("words.txt"), "-r", "1", "--metric", "edit", "--count", "--quiet"}).out,
            "query,count\n0,2\n1,2\n2,1\n3,1\n");
  EXPECT_EQ(run_kith({"knn", path("words.txt"), path("asked.txt"), "-k", "1", "--metric", "edit", "--text", "bytes",
                      "--engine", "covertree", "--quiet"})
                .out,
            kSequenceHead + "0,0,0,1\n1,0,3,2\n");
  EXPECT_EQ(run_kith({"knn", "-", "-k", "1", "--metric", "edit", "--earlier-only", "--quiet"}, "a\nab\n").out,
            kSequenceHead + "0,0,2,inf\n1,0,0,1\n");
}

TEST_F(Sequences, LettersByPlacesAndSetsByShares) {
  const std::string expected = kSequenceHead + "0,0,0,0\n0,1,1,1\n1,0,1,0\n1,1,0,1\n2,0,2,0\n2,1,0,3\n";
  for (const char* name : {"dna.fa", "dna.phy"}) {
    EXPECT_EQ(run_kith({"knn", path(name), "-k", "2", "--metric", "hamming", "--quiet"}).out, expected) << name;
  }
  EXPECT_EQ(run_kith({"knn", path("sets.txt"), "-k", "1", "--metric", "jaccard", "--exclude-self", "--quiet"}).out,
            kSequenceHead + "0,0,1,0.33333334\n1,0,0,0.33333334\n2,0,0,1\n");
}

TEST_F(Sequences, AnIndexIsBuiltSearchedToldAndVerified) {
  const std::string index = path("words.kith");
  const Outcome built = run_kith({"build", path("words.txt"), "--metric", "edit", "--out", index, "--json"});
  ASSERT_EQ(built.code, 0) << built;
  EXPECT_EQ(json::parse(built.out)["engine"], "covertree");
  EXPECT_EQ(json::parse(built.out)["kind"], "text");
  const Outcome from_index = run_kith({"knn", index, path("asked.txt"), "-k", "2", "--quiet"});
  EXPECT_EQ(from_index.out,
            run_kith({"knn", path("words.txt"), path("asked.txt"), "-k", "2", "--metric", "edit", "--quiet"}).out);
  EXPECT_EQ(run_kith({"knn", index, path("asked.txt"), "-k", "2", "--map", "--quiet"}).out, from_index.out);
  const json info = json::parse(run_kith({"info", index, "--json"}).out);
  EXPECT_EQ(info["content"], "sequences");
  EXPECT_EQ(info["metric"], "edit");
  EXPECT_EQ(info["kind"], "text");
  EXPECT_EQ(info["points"], 4);
  EXPECT_PRED2(has, run_kith({"info", index}).out, "kind          text");
  EXPECT_EQ(run_kith({"verify", index}).out, "right: index of 4 sequences of text, edit, covertree\n");
  EXPECT_EQ(run_kith({"verify", index, "--points", path("words.txt"), "--quiet"}).code, 0);
  expect_failure(run_kith({"verify", index, "--points", path("asked.txt")}), 3,
                 "it has 4 sequences, but the file has 2");
  write("other.txt", "cat\ncart\ndoc\nnaïve\n");
  expect_failure(run_kith({"verify", index, "--points", path("other.txt")}), 3, "sequence 2 (counted from 0)");
  std::string bytes = content(index);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
  write("damaged.kith", bytes);
  expect_failure(run_kith({"verify", path("damaged.kith")}), 4, "damaged index file");
}

TEST_F(Sequences, AnIndexOfBits) {
  std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (3, 1), }";
  header += std::string(118 - header.size() - 1, ' ') + "\n";
  write("bits.npy", std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(header.size()) + '\0' + header +
                        std::string("\x00\x01\xff", 3));
  for (const char* engine : {"brute", "covertree"}) {
    const std::string index = path("bits.kith");
    ASSERT_EQ(run_kith({"build", path("bits.npy"), "--metric", "hamming", "--engine", engine, "--out", index}).code, 0);
    EXPECT_EQ(run_kith({"knn", index, path("bits.npy"), "-k", "1", "--quiet"}).out,
              kSequenceHead + "0,0,0,0\n1,0,1,0\n2,0,2,0\n");
    EXPECT_EQ(run_kith({"radius", index, "-r", "1", "--count", "--quiet"}).out, "query,count\n0,2\n1,2\n2,1\n");
    const json info = json::parse(run_kith({"info", index, "--json"}).out);
    EXPECT_EQ(info["content"], "bits");
    EXPECT_EQ(info["bits"], 8);
    EXPECT_EQ(info["engine"], engine);
    EXPECT_EQ(run_kith({"verify", index, "--points", path("bits.npy"), "--quiet"}).code, 0);
    expect_failure(run_kith({"knn", index, "-k", "1", "--metric", "edit"}), 2, "leave --metric edit out");
  }
}

TEST_F(Sequences, ReportsAreAsAlways) {
  const Outcome outcome = run_kith({"knn", path("words.txt"), "-k", "2", "--metric", "edit", "--json", "--explain",
                                    "--engine", "covertree", "--eps", "0.5"});
  const json report = json::parse(outcome.out);
  EXPECT_EQ(report["points"], 4);
  EXPECT_EQ(report["kind"], "text");
  EXPECT_EQ(report["items"], 15);
  EXPECT_EQ(report["metric"], "edit");
  EXPECT_EQ(report["engine"], "covertree");
  EXPECT_EQ(report["eps"], 0.5);
  EXPECT_TRUE(report.contains("certified"));
  EXPECT_TRUE(report.contains("evaluations"));
  EXPECT_PRED2(has, outcome.err, "explain: read ");
  EXPECT_PRED2(has, outcome.err, "lines, 4 sequences of text, 15 items");
  write("gaps.txt", "a\n\nb\n");
  EXPECT_PRED2(has, run_kith({"knn", path("gaps.txt"), "-k", "1", "--metric", "edit"}).err,
               "note: 1 empty line was read as an empty string");
}

TEST_F(Sequences, WhatMakesNoSenseIsRefused) {
  const auto knn = [&](std::vector<std::string> more) {
    std::vector<std::string> words = {"knn", path("words.txt"), "-k", "1", "--metric", "edit"};
    words.insert(words.end(), more.begin(), more.end());
    return run_kith(words);
  };
  const std::vector<std::vector<std::string>> refused = {
      {"--engine", "kdtree"}, {"--squared"},      {"--skip-nonfinite"},  {"--period", "1"},
      {"--split", "cycle"},   {"--map"},          {"--max-leaves", "3"}, {"--format", "csv"},
      {"--dtype", "f32"},     {"--columns", "1"}, {"--label", "1"}};
  for (const auto& flag : refused) expect_failure(knn(flag), 2, " means nothing for sequences");
  expect_failure(knn({"--from", "sets"}), 2, "use --metric jaccard");
  expect_failure(knn({"--from", "fasts"}), 2, "did you mean \"fasta\"?");
  expect_failure(run_kith({"knn", path("sets.txt"), "-k", "1", "--metric", "jaccard", "--from", "lines"}), 2,
                 "use --from sets");
  expect_failure(run_kith({"knn", path("sets.txt"), "-k", "1", "--metric", "jaccard", "--text", "utf8"}), 2,
                 "--text is for strings");
  expect_failure(run_kith({"knn", path("words.txt"), "-k", "1", "--from", "lines"}), 2, "say --metric edit");
  expect_failure(run_kith({"knn", path("words.txt"), "-k", "1", "--metric", "hamming"}), 3, "of one length");
  expect_failure(run_kith({"knn", path("words.txt"), "-k", "1", "--metric", "jaccard"}), 3,
                 "line 1: \"cat\" is not a whole");
  expect_failure(run_kith({"knn", path("none.txt"), "-k", "1", "--metric", "edit"}), 5, "cannot be opened");
  expect_failure(
      run_kith({"export", path("words.txt"), "--layout", "nodes", "--metric", "edit", "--out", path("x.npz")}), 2,
      "--metric");
  const std::string index = path("words.kith");
  ASSERT_EQ(run_kith({"build", path("words.txt"), "--metric", "edit", "--out", index, "--quiet"}).code, 0);
  expect_failure(run_kith({"knn", index, "-k", "1", "--metric", "hamming"}), 2, "is an index for edit");
  expect_failure(run_kith({"knn", index, "-k", "1", "--engine", "brute"}), 2, "leave --engine brute out");
  expect_failure(run_kith({"knn", index, path("asked.txt"), "-k", "1", "--text", "bytes"}), 2, "leave --text out");
  expect_failure(run_kith({"knn", index, index, "-k", "1"}), 2, "QUERIES are a file of strings or sets");
  expect_failure(run_kith({"box", index, path("asked.txt")}), 2, "is an index of sequences");
  write("points.csv", "0\n1\n");
  ASSERT_EQ(run_kith({"build", path("points.csv"), "--out", path("p.kith"), "--quiet"}).code, 0);
  expect_failure(run_kith({"knn", path("p.kith"), "-k", "1", "--metric", "edit"}), 2, "is an index of points");
  expect_failure(run_kith({"knn", path("points.csv"), "-k", "1", "--from", "lines", "--metric", "l2"}), 2, "");
}

TEST_F(Sequences, AColumnOfATableHoldsStrings) {
  const std::string table = write("t.csv", "# made\nid,name,x\n1,cat,5\n2,\"cart\",6\n3,dog,7\n");
  const std::string expected = kSequenceHead + "0,0,1,1\n1,0,0,1\n2,0,0,3\n";
  for (const std::string column : {"name", "2"}) {
    EXPECT_EQ(
        run_kith({"knn", table, "-k", "1", "--metric", "edit", "--text-column", column, "--exclude-self", "--quiet"})
            .out,
        expected);
  }
  expect_failure(run_kith({"knn", table, "-k", "1", "--metric", "edit", "--text-column", "nom"}), 2,
                 "there is no column \"nom\"");
  expect_failure(
      run_kith({"knn", write("r.csv", "a,b\n1,x\n2\n"), "-k", "1", "--metric", "edit", "--text-column", "b"}), 3,
      "line 3: 1 field, but the header in line 1 has 2");
  expect_failure(run_kith({"knn", table, "-k", "1", "--text-column", "name"}), 2, "--metric edit, hamming or jaccard");
  expect_failure(run_kith({"knn", table, "-k", "1", "--metric", "l2", "--text-column", "name"}), 2, "--metric edit");
}

TEST_F(Sequences, ShinglesAndWordsMakeSets) {
  const std::string lines = write("l.txt", "abcd\nbcde\nxyz\nab\n\n");
  // abcd: abc bcd; bcde: bcd cde: one of three is shared.
  EXPECT_EQ(
      run_kith({"radius", lines, "-r", "0.7", "--metric", "jaccard", "--shingle", "3", "--exclude-self", "--quiet"})
          .out,
      kSequenceHead + "0,0,1,0.6666667\n1,0,0,0.6666667\n");
  const std::string texts = write("w.txt", "the quick  fox\nfox the\tquick\nlazy dog\n");
  EXPECT_EQ(run_kith({"knn", texts, "-k", "1", "--metric", "jaccard", "--words", "--exclude-self", "--quiet"}).out,
            kSequenceHead + "0,0,1,0\n1,0,0,0\n2,0,0,1\n");
  ASSERT_EQ(run_kith({"build", texts, "--metric", "jaccard", "--words", "--out", path("w.kith"), "--quiet"}).code, 0);
  EXPECT_EQ(run_kith({"knn", path("w.kith"), texts, "-k", "1", "--words", "--quiet"}).out,
            kSequenceHead + "0,0,0,0\n1,0,0,0\n2,0,2,0\n");
  expect_failure(run_kith({"knn", lines, "-k", "1", "--metric", "edit", "--shingle", "3"}), 2, "--metric jaccard");
  expect_failure(run_kith({"knn", lines, "-k", "1", "--metric", "jaccard", "--shingle", "3", "--words"}), 2,
                 "give one");
  expect_failure(run_kith({"knn", lines, "-k", "1", "--metric", "jaccard", "--shingle", "0"}), 2, "--shingle");
}

TEST_F(Sequences, InfoOfStringsAndSets) {
  const json words =
      json::parse(run_kith({"info", write("d.txt", "cat\ndog\ncat\n\n"), "--from", "lines", "--json", "--quiet"}).out);
  EXPECT_EQ(words["sequences"], 4);
  EXPECT_EQ(words["kind"], "text");
  EXPECT_EQ(words["duplicates"], 1);
  EXPECT_EQ(words["empty"], 1);
  EXPECT_EQ(words["longest"], 3);
  EXPECT_EQ(words["different_items"], 6);
  EXPECT_PRED2(has, run_kith({"info", path("sets.txt"), "--metric", "jaccard"}).out,
               "sequences     3\nkind          sets\n");
  EXPECT_PRED2(has, run_kith({"info", path("dna.fa"), "--from", "fasta"}).out,
               "format        fasta\nsequences     3\n");
}

TEST_F(Sequences, DedupeOfStringsAndSets) {
  const std::string names = write("n.txt", "Anna\nAna\nBert\nAnne\nBert\nAnnes\n");
  EXPECT_EQ(run_kith({"dedupe", names, "--from", "lines", "--quiet"}).out, "Anna\nAna\nBert\nAnne\nAnnes\n");
  const Outcome near = run_kith(
      {"dedupe", names, "--metric", "edit", "--tolerance", "1", "--map", path("m.csv"), "--out", path("o.txt")});
  EXPECT_EQ(near.code, 0) << near;
  EXPECT_EQ(content(path("o.txt")), "Anna\nBert\nAnnes\n");
  EXPECT_EQ(content(path("m.csv")), "row,kept,kept_row\n0,0,0\n1,0,0\n2,1,2\n3,0,0\n4,1,2\n5,2,5\n");
  EXPECT_EQ(run_kith({"dedupe", write("s.txt", "1 2\n2 1\n3\n"), "--metric", "jaccard", "--quiet"}).out, "1 2\n3\n");
  EXPECT_EQ(run_kith({"dedupe", write("f.fa", ">a x\nAC\n>b\nAC\n>c\nGG\n"), "--metric", "edit", "--quiet"}).out,
            ">a x\nAC\n>c\nGG\n");
  EXPECT_EQ(run_kith({"dedupe", write("w2.txt", "b a\na b\nc\n"), "--metric", "jaccard", "--words", "--quiet"}).out,
            "b a\nc\n");
  expect_failure(run_kith({"dedupe", names, "--metric", "edit", "--by", "x"}), 2, "--by, --carry and --drop");
}

TEST_F(Sequences, VerifyOfStringsAndSets) {
  const auto search = [&](std::vector<std::string> words) {
    words.insert(words.end(), {"--out", path("r.npz"), "--quiet"});
    ASSERT_EQ(run_kith(words).code, 0);
  };
  const auto verify = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"verify", path("r.npz")});
    return run_kith(words);
  };
  search({"knn", path("words.txt"), "-k", "5", "--metric", "edit", "--exclude-self"});
  const Outcome right = verify({path("words.txt"), "--metric", "edit", "--exclude-self"});
  EXPECT_EQ(right.out, "right: 4 of 4 lists checked against 4 sequences (edit)\n") << right;
  expect_failure(verify({path("words.txt"), "--metric", "edit"}), 3, "4 lists wrong");
  expect_failure(verify({path("words.txt"), "--from", "lines"}), 2, "--metric edit, hamming or jaccard");
  expect_failure(verify({path("words.txt"), path("asked.txt"), "--metric", "edit"}), 2, "the result has 4 queries");
  search({"knn", path("words.txt"), path("asked.txt"), "-k", "2", "--metric", "edit"});
  EXPECT_EQ(verify({path("words.txt"), path("asked.txt"), "--metric", "edit"}).code, 0);
  search({"radius", path("sets.txt"), "-r", "0.5", "--metric", "jaccard"});
  EXPECT_EQ(verify({path("sets.txt"), "--metric", "jaccard", "--radius", "0.5"}).code, 0);
  expect_failure(verify({path("sets.txt"), "--metric", "jaccard", "--radius", "0.1"}), 3, "wrong");
  expect_failure(verify({path("sets.txt"), "--metric", "jaccard"}), 2, "give its radius with --radius");
  search({"knn", path("dna.fa"), "-k", "2", "--metric", "hamming"});
  EXPECT_EQ(verify({path("dna.phy"), "--metric", "hamming"}).code, 0);
}

}  // namespace
}  // namespace kith::test
