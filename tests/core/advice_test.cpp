// Options in messages, worded by a front end.
#include <kith/advice.hpp>

#include <gtest/gtest.h>

#include <string>

namespace kith {
namespace {

std::string worded(std::string_view message) {
  return with_options(message, [](std::string_view option, std::string_view value) {
    return "<" + std::string(option) + "|" + std::string(value) + ">";
  });
}

TEST(Advice, OptionsAreWordedWhereverTheyStand) {
  EXPECT_EQ(worded("no GPU; use `device=cpu`"), "no GPU; use <device|cpu>");
  EXPECT_EQ(worded("`header=true` or `header=false`"), "<header|true> or <header|false>");
  EXPECT_EQ(worded("other columns (`columns=`)"), "other columns (<columns|>)");
  EXPECT_EQ(worded("another type (`dtype=x=f64`), and `skip_nonfinite=true`"),
            "another type (<dtype|x=f64>), and <skip_nonfinite|true>");
  EXPECT_EQ(worded("`layout=f32 x,y,z`"), "<layout|f32 x,y,z>");
}

TEST(Advice, OtherBackticksStay) {
  EXPECT_EQ(worded(""), "");
  EXPECT_EQ(worded("a lone ` stays"), "a lone ` stays");
  EXPECT_EQ(worded("`my column` > 3; use `device=cpu`"), "`my column` > 3; use <device|cpu>");
  EXPECT_EQ(worded("`=3` and `A=3`"), "`=3` and `A=3`");
}

}  // namespace
}  // namespace kith
