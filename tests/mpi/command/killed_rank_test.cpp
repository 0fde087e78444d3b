// A rank that is killed ends the program: no other one waits for it for ever.
#include "mpi/command/start_ranks.hpp"

#include <gtest/gtest.h>

namespace kith::test {
namespace {

TEST(KilledRank, EndsTheOthers) {
  for (const int killed : {0, 2}) {
    const Outcome outcome = run_ranks(3, KITH_KILLED_RANK, {std::to_string(killed)});  // fails if it takes minutes
    EXPECT_NE(0, outcome.code) << outcome;
    for (int rank = 0; rank < 3; ++rank) {
      EXPECT_PRED2(has, outcome.err, "rank " + std::to_string(rank) + " has built its shard");
    }
    EXPECT_FALSE(has(outcome.err, "has found its neighbours")) << outcome;
  }
}

TEST(KilledRank, WithoutOneTheProgramEndsWell) {
  const Outcome outcome = run_ranks(3, KITH_KILLED_RANK, {"7"});
  EXPECT_EQ(0, outcome.code) << outcome;
  EXPECT_PRED2(has, outcome.err, "rank 2 has found its neighbours");
}

}  // namespace
}  // namespace kith::test
