// Profiles: written and read, ignored and refused as they should be; and whatever their values are, answers and files
// stay the same.
#include "engine/profile.hpp"
#include "support/expect_same.hpp"
#include "support/file_content.hpp"
#include "support/random_case.hpp"
#include "support/temporary_path.hpp"
#include "support/thrown_message.hpp"

#include <kith/error.hpp>
#include <kith/job_plan.hpp>
#include <kith/profile.hpp>

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace kith::test {
namespace {

class ProfileTest : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("KITH_PROFILE");
    setenv("XDG_CONFIG_HOME", folder_.c_str(), 1);
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    use_profile("none");
  }
  void TearDown() override {
    unsetenv("KITH_PROFILE");
    unsetenv("XDG_CONFIG_HOME");
    use_profile("none");
    std::filesystem::remove_all(folder_);
  }

  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + "/" + name) << text;
    return folder_ + "/" + name;
  }
  /// A profile with one device, as JSON between the braces.
  std::string device(const std::string& values, const std::string& times = "") const {
    const DeviceProfile cpu = profile_of_cpu();
    return write("one.json", R"({"format": "kith profile 1", "devices": [{"device": "cpu", "name": ")" + cpu.name +
                                 R"(", "threads": )" + std::to_string(cpu.threads) + R"(, "version": ")" + cpu.version +
                                 R"(", "values": {)" + values + R"(}, "times": [)" + times + "]}]}");
  }

  std::string folder_ = temporary_path("profiles");
};

DeviceProfile changed_cpu() {
  DeviceProfile cpu = profile_of_cpu();
  cpu.values.groups_per_task = 7;
  cpu.times = {{Engine::kd_tree, DType::f32, 3, 100000, 100000, 8, true, 10, 40}};
  return cpu;
}

DeviceProfile gpu_named(const std::string& name, std::uint64_t points) {
  DeviceProfile gpu = profile_of_cpu();
  gpu.is_gpu = true;
  gpu.name = name;
  gpu.threads = 0;
  gpu.values.gpu_points = points;
  return gpu;
}

TEST_F(ProfileTest, IsReadAsItWasWritten) {
  const std::string path = folder_ + "/deep/er/profile.json";
  write_to_profile(path, changed_cpu());
  const DeviceProfile gpu = gpu_named("NVIDIA H200", 123);
  write_to_profile(path, gpu);
  DeviceProfile again = changed_cpu();
  again.values.groups_per_task = 9;
  write_to_profile(path, again);
  const std::vector<DeviceProfile> read = read_profile(path);
  ASSERT_EQ(read.size(), 2);
  EXPECT_EQ(read[0].name, "NVIDIA H200");
  EXPECT_EQ(read[0].values, gpu.values);
  EXPECT_EQ(read[1].values, again.values);
  EXPECT_EQ(read[1].times, again.times);
  EXPECT_EQ(read[1].threads, again.threads);
}

TEST_F(ProfileTest, IsTakenByNameByVariableAndByItself) {
  const std::string path = folder_ + "/other.json";
  write_to_profile(path, changed_cpu());
  EXPECT_EQ(use_profile(path).path, path);
  EXPECT_EQ(tuning().groups_per_task, 7);
  EXPECT_EQ(profile_in_use().devices.size(), 1);
  EXPECT_EQ(use_profile().path, "");
  EXPECT_EQ(tuning(), Tuning{});
  setenv("KITH_PROFILE", path.c_str(), 1);
  EXPECT_EQ(use_profile().path, path);
  EXPECT_EQ(tuning().groups_per_task, 7);
  EXPECT_EQ(user_profile_path(), folder_ + "/kith/profile.json");
  write_to_profile(user_profile_path(), profile_of_cpu());
  EXPECT_EQ(use_profile().path, path);
  unsetenv("KITH_PROFILE");
  EXPECT_EQ(use_profile().path, user_profile_path());
  setenv("KITH_PROFILE", "none", 1);
  EXPECT_EQ(use_profile().path, "");
}

TEST_F(ProfileTest, OfAnotherDeviceOrVersionIsIgnoredWithANote) {
  for (int which = 0; which < 3; ++which) {
    DeviceProfile other = changed_cpu();
    if (which == 0) other.name = "abacus";
    if (which == 1) other.threads += 1;
    if (which == 2) other.version = "0.0.1";
    const std::string path = folder_ + "/" + std::to_string(which) + ".json";
    write_to_profile(path, other);
    const ProfileInUse profile = use_profile(path);
    EXPECT_PRED2(holds, profile.note, "is ignored");
    EXPECT_EQ(tuning(), Tuning{});
    write_to_profile(path, changed_cpu());
    EXPECT_EQ(use_profile(path).note, "");
    EXPECT_EQ(tuning().groups_per_task, 7);
  }
}

TEST_F(ProfileTest, EntriesOfOtherVersionsStayAsTheyAre) {
  const std::string later = R"({"device":"cpu","name":"abacus","threads":1,"version":"9.0.0","values":{"beads":[7]}})";
  const std::string path = write("shared.json", R"({"format": "kith profile 1", "devices": [)" + later + "]}");
  for (int i = 0; i < 2; ++i) write_to_profile(path, changed_cpu());
  EXPECT_EQ(read_profile(path).size(), 2);
  std::string text = file_content(path);
  std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
  EXPECT_PRED2(holds, text, later);
}

TEST_F(ProfileTest, BrokenOnesAreErrorsOnlyIfNamed) {
  for (const std::string text :
       {"", "{", "[]", "7", R"({"format": "kith profile 1"})", R"({"format": 3, "devices": []})",
        R"({"format": "kith profile 1", "devices": [{}]})", R"({"format": "kith profile 1", "devices": [7]})"}) {
    SCOPED_TRACE(text);
    EXPECT_THROW(use_profile(write("broken.json", text)), CorruptFile);
    setenv("KITH_PROFILE", (folder_ + "/broken.json").c_str(), 1);
    EXPECT_THROW(use_profile(), CorruptFile);
    unsetenv("KITH_PROFILE");
    std::filesystem::create_directories(folder_ + "/kith");
    write("kith/profile.json", text);
    EXPECT_PRED2(holds, use_profile().note, "it is ignored");
    EXPECT_EQ(tuning(), Tuning{});
  }
  EXPECT_THROW(use_profile(folder_ + "/missing.json"), IoError);
  EXPECT_THROW(use_profile(folder_), IoError);
  EXPECT_THROW(use_profile("-"), UsageError);
  EXPECT_THROW(use_profile("/dev/zero"), CorruptFile);
  std::filesystem::remove_all(folder_ + "/kith");
  std::filesystem::create_directory_symlink("kith", folder_ + "/kith");  // a folder that cannot be read, even by root
  EXPECT_PRED2(holds, use_profile().note, "it is ignored");
  EXPECT_THROW(write_to_profile(write("points.csv", "1,2\n"), changed_cpu()), CorruptFile);
  EXPECT_EQ(file_content(folder_ + "/points.csv"), "1,2\n");
}

TEST_F(ProfileTest, EveryRangeIsChecked) {
  for (const TunedValue& value : tuned_values()) {
    SCOPED_TRACE(value.name);
    Tuning values;
    values.*value.member = value.most + 1;
    EXPECT_THROW(use_tuning(values), UsageError);
    if (value.is_gpu) continue;
    const std::string name = "\"" + std::string(value.name) + "\": ";
    const std::string beyond = std::to_string(value.most + 1);
    for (const std::string& number : std::vector<std::string>{"-1", "1.5", "\"7\"", "null", beyond}) {
      EXPECT_PRED2(holds, thrown_message<CorruptFile>([&] { use_profile(device(name + number)); }), "it must be");
    }
    use_profile(device(name + std::to_string(value.most)));
    EXPECT_EQ(tuning().*value.member, value.most);
    if (value.least == 0) continue;
    values.*value.member = value.least - 1;
    EXPECT_THROW(use_tuning(values), UsageError);
    EXPECT_THROW(use_profile(device(name + std::to_string(value.least - 1))), CorruptFile);
  }
  EXPECT_PRED2(holds, thrown_message<CorruptFile>([&] { use_profile(device("\"gpu_points\": 5")); }),
               "no value of cpu");
}

TEST_F(ProfileTest, PlansEstimateByItsTimes) {
  const std::string path = folder_ + "/times.json";
  write_to_profile(path, changed_cpu());
  const JobRequest job{.points = 200000, .dims = 3, .k = 8, .engine = Engine::kd_tree, .device = Device::cpu()};
  use_profile(path);
  EXPECT_EQ(plan_job(job).search_ms, 80);
  EXPECT_GT(*plan_job(job).build_ms, 20);
  use_profile("none");
  EXPECT_NE(plan_job(job).search_ms, 80);
}

TEST_F(ProfileTest, EachGpuGetsItsOwnNumbers) {
  const std::string path = folder_ + "/gpus.json";
  write_to_profile(path, gpu_named("A", 5000));
  write_to_profile(path, gpu_named("B", Tuning{}.gpu_points));
  use_profile(path);
  for (const std::string gpu : {"A", "B", "A", "C", "A"}) {
    engine::take_gpu_values(gpu);
    EXPECT_EQ(tuning().gpu_points, gpu == "A" ? 5000 : Tuning{}.gpu_points) << gpu;
  }
  EXPECT_PRED2(holds, profile_in_use().note, "is ignored for C");
  Tuning own;
  own.gpu_points = 70000;
  use_tuning(own);
  engine::take_gpu_values("A");
  EXPECT_EQ(tuning(), own);
  EXPECT_EQ(engine::fewest_gpu_points(), 70000);
  use_profile(path);
  EXPECT_EQ(engine::fewest_gpu_points(), 5000);
}

TEST_F(ProfileTest, ChoosesNoDeviceWhereTheEngineDependsOnIt) {
  Tuning values;
  values.gpu_points = 1;
  use_tuning(values);
  const auto reason = [](std::uint32_t dims) { return Index::plan(5000, dims, DType::f32).reason; };
  for (const std::uint32_t dims : {6, 20, 64}) EXPECT_PRED2(holds, reason(dims), "pays from 1000000 points on");
  for (const std::uint32_t dims : {3, 65}) EXPECT_FALSE(holds(reason(dims), "1000000")) << reason(dims);
}

/// The built-in values, those where each is the least or the most that it may be, and those with one such value.
std::vector<Tuning> extremes() {
  std::vector<Tuning> all(3);
  for (const TunedValue& value : tuned_values()) {
    all[1].*value.member = value.least;
    all[2].*value.member = value.most;
    for (const std::uint64_t number : {value.least, value.most}) {
      all.emplace_back().*value.member = number;
    }
  }
  return all;
}

TEST_F(ProfileTest, AnswersAreTheSameWithEveryValue) {
  for (const Tuning& values : extremes()) {
    use_tuning(values);
    for (std::uint64_t seed = 0; seed < 40; ++seed) {
      SCOPED_TRACE(testing::Message() << "replay with random_case(" << seed << ")");
      const SearchCase c = random_case(seed);
      for (const Engine engine : {Engine::automatic, Engine::brute_force, Engine::kd_tree}) {
        BuildOptions options = c.build_options(engine, Device::cpu());
        if (engine == Engine::kd_tree && c.metric.kind() != Metric::Kind::l2) continue;
        if (engine != Engine::kd_tree) options.builder = Builder::automatic;
        options.expected_queries = c.queries.rows() + 1;
        const Index index = Index::build(c.points.view(), options);
        expect_same(oracle_knn(c.request(), c.k),
                    c.is_self ? index.knn_self(c.k, c.options) : index.knn(c.queries.view(), c.k, c.options));
      }
    }
  }
}

TEST_F(ProfileTest, FilesAreTheSameWithEveryValue) {
  std::mt19937_64 random(5);
  for (const std::uint32_t dims : {2, 3}) {
    const PointSet points = nasty_points(NastyShape::clusters, DType::f32, 20000, dims, random);
    use_profile("none");
    const auto few = PointView(points.values<float>().data(), 500, dims);
    const BuildOptions tree{.engine = Engine::kd_tree, .device = Device::cpu(), .threads = 3};
    const auto expected = Index::build(points.view(), tree).to_bytes();
    const auto open = Index::build(few, {.device = Device::cpu()}).to_bytes();
    for (const Tuning& values : extremes()) {
      use_tuning(values);
      EXPECT_TRUE(Index::build(points.view(), tree).to_bytes() == expected);
      EXPECT_TRUE(Index::build(few, {.device = Device::cpu()}).to_bytes() == open);
      EXPECT_EQ(Index::plan(20000, dims, DType::f32, tree).index_bytes,
                Index::build(points.view(), tree).memory_bytes());
    }
  }
}

TEST_F(ProfileTest, MayChangeWhileSearchesRun) {
  std::mt19937_64 random(6);
  const PointSet points = nasty_points(NastyShape::uniform, DType::f32, 5000, 3, random);
  const Index index = Index::build(points.view(), {.engine = Engine::kd_tree, .device = Device::cpu()});
  const NeighborLists expected = index.radius_self(0.05);
  std::thread changes([] {
    for (int i = 0; i < 20; ++i) {
      for (const Tuning& values : extremes()) use_tuning(values);
    }
  });
  for (int i = 0; i < 20; ++i) expect_same(expected, index.radius_self(0.05));
  changes.join();
}

}  // namespace
}  // namespace kith::test
