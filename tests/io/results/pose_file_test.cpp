// Poses in every spelling that is read, what is refused and why, and that written ones read back as they were.
#include <kith/io/pose_file.hpp>

#include "io/numpy/npy_header.hpp"
#include "io/results/pose_read.hpp"

#include <kith/error.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace kith::io::pose_cases {
namespace {

apps::Pose read(const std::string& text) {
  return read_pose_file(runtime::InputFile("pose", std::vector<char>(text.begin(), text.end())));
}

template <typename Exception = BadData>
void expect_refused(const std::string& text, const std::string& part) {
  try {
    read(text);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const Exception& error) {
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}

apps::Pose example() {
  apps::Pose pose;
  for (int i = 0; i < 12; ++i) pose.matrix[i] = i + 1;
  return pose;
}

std::string array_of(const std::vector<double>& values, std::vector<std::uint64_t> shape) {
  std::string bytes = npy_header_bytes("<f8", shape);
  bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double));
  return bytes;
}

TEST(PoseFile, ReadsTextInEveryShape) {
  const std::string three = "1 2 3 4\n5 6 7 8\n9 10 11 12\n";
  EXPECT_EQ(read(three + "0 0 0 1\n"), example());
  EXPECT_EQ(read(three), example());
  EXPECT_EQ(read("# a pose\n\n1, 2,3;4 # first\r\n5\t6 7 8\n  9 10 11 12"), example());
  EXPECT_EQ(read("1 2 3 4 5 6 7 8 9 10 11 12\n"), example());
  EXPECT_EQ(read("1 2 3 4 5 6 7 8 9 1e1 +11 12.0 0 0 0 1"), example());
  EXPECT_EQ(read("\xEF\xBB\xBF" + three), example());
}

TEST(PoseFile, ReadsPosesOfAPlane) {
  apps::Pose flat;
  flat(0, 0) = 1;
  flat(0, 1) = 2;
  flat(0, 3) = 3;
  flat(1, 0) = 4;
  flat(1, 1) = 5;
  flat(1, 3) = 6;
  EXPECT_EQ(read("1 2 3\n4 5 6\n0 0 1\n"), flat);
  EXPECT_EQ(read("1 2 3\n4 5 6\n"), flat);
  EXPECT_EQ(read("[[1, 2, 3], [4, 5, 6], [0, 0, 1]]"), flat);
}

TEST(PoseFile, ReadsJson) {
  EXPECT_EQ(read("[[1,2,3,4],[5,6,7,8],[9,10,11,12],[0,0,0,1]]"), example());
  EXPECT_EQ(read(" {\"fitness\": 1, \"transformation\": [[1,2,3,4],[5,6,7,8],[9,10,11,12]]}"), example());
  EXPECT_EQ(read("[1,2,3,4,5,6,7,8,9,10,11,12]"), example());
}

TEST(PoseFile, ReadsArrays) {
  const apps::Pose pose = example();
  std::vector<double> values(pose.matrix.begin(), pose.matrix.end());
  EXPECT_EQ(read(array_of(values, {4, 4})), example());
  EXPECT_EQ(read(array_of(values, {16})), example());
  values.resize(12);
  EXPECT_EQ(read(array_of(values, {3, 4})), example());
  expect_refused(array_of(values, {4, 3}), "4 rows of 3 numbers");
  expect_refused<CorruptFile>(array_of(values, {4, 4}), "pose");
}

TEST(PoseFile, SaysWhatIsWrong) {
  expect_refused("", "holds no numbers");
  expect_refused("# nothing\n", "holds no numbers");
  expect_refused("1 2 3 4\n5 6 7\n9 10 11 12\n", "the first row has 4 numbers, another one 3");
  expect_refused("1 2 3 4\n5 6 seven 8\n", "line 2: \"seven\" is not a number");
  expect_refused("1 2 3 4\n5 6 nan 8\n9 10 11 12\n", "row 2, number 3 of the pose is NaN");
  expect_refused("1 2 3 4\n5 6 1e999 8\n9 10 11 12\n", "infinity or too large");
  expect_refused("1 2 3 4\n5 6 7 8\n9 10 11 12\n4 8 12 1\n",
                 "the last row of the pose is 4 8 12 1, but must be 0 0 0 1");
  expect_refused("1 2 3\n4 5 6\n7 8 9\n", "must be 0 0 1");
  std::string many;
  for (int i = 0; i < 9; ++i) many += "1 2 3 4 5 6 7 8 9 10 11 12\n";
  expect_refused(many, "9 rows of 12 numbers, which look like several poses");
  expect_refused("{\"pose\": []}", "no \"transformation\"");
  expect_refused("{\"transformation\": 3}", "a number stands where a list of rows should be");
  expect_refused("[[1,2,3,4],5]", "a number stands where a row should be");
  expect_refused("[[1,2,3,\"4\"]]", "a string stands where a number should be");
  expect_refused("[[1,2", "begins as JSON does, but is none");
  expect_refused("[]", "holds no numbers");
  expect_refused(std::string((1 << 20) + 1, ' '), "too many for a pose");
  EXPECT_THROW(read_pose("/nowhere/pose.txt"), IoError);
}

TEST(PoseFile, ReadsBackWhatItWrites) {
  apps::Pose pose = example();
  pose(0, 0) = 1.0 / 3;
  pose(0, 1) = -0.0;
  pose(1, 1) = 4e-320;
  pose(2, 3) = std::numeric_limits<double>::max();
  for (const std::string name : {"kith_pose.txt", "kith_pose.npy", "kith_pose.json", "kith_pose.JSON"}) {
    const std::filesystem::path path = std::filesystem::temp_directory_path() / name;
    write_pose(path, pose);
    const apps::Pose again = read_pose(path);
    EXPECT_EQ(std::memcmp(pose.matrix.data(), again.matrix.data(), sizeof pose.matrix), 0) << name;
    std::filesystem::remove(path);
  }
  EXPECT_THROW(write_pose("/nowhere/pose.txt", pose), IoError);
  pose(1, 2) = std::numeric_limits<double>::infinity();
  EXPECT_THROW(write_pose("pose.txt", pose), UsageError);
  pose = example();
  pose(3, 0) = 1;
  EXPECT_THROW(write_pose("pose.txt", pose), UsageError);
}

}  // namespace
}  // namespace kith::io::pose_cases
