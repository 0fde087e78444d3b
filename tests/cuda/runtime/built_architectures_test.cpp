// Which GPUs run code that was compiled for which architectures.
#include "cuda/runtime/built_architectures.hpp"

#include <gtest/gtest.h>

namespace kith::cuda {
namespace {

TEST(BuiltArchitectures, MachineCodeRunsOnItsGenerationAndPtxOnAllLaterOnes) {
  constexpr const char* kAll = "75-real,80-real,86-real,89-real,90-real,100-real,120";
  for (const int gpu : {75, 80, 86, 87, 89, 90, 100, 103, 120, 121, 130}) EXPECT_TRUE(has_code_for(kAll, gpu)) << gpu;
  for (const int gpu : {60, 70, 72, 110}) EXPECT_FALSE(has_code_for(kAll, gpu)) << gpu;
  EXPECT_TRUE(has_code_for("90-real", 90));
  EXPECT_FALSE(has_code_for("90-real", 89));
  EXPECT_FALSE(has_code_for("90-real", 100));
  EXPECT_FALSE(has_code_for("86-real", 80));
  EXPECT_TRUE(has_code_for("90-virtual", 120));
  EXPECT_FALSE(has_code_for("90-virtual", 89));
  EXPECT_TRUE(has_code_for("90", 100));
  EXPECT_TRUE(has_code_for("90a-real", 90));
  EXPECT_FALSE(has_code_for("90a", 100));
  EXPECT_TRUE(has_code_for("native", 75));
  EXPECT_FALSE(has_code_for("", 90));
}

}  // namespace
}  // namespace kith::cuda
