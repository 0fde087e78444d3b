// The command kith.
#include "interrupt.hpp"
#include "run_command.hpp"

#include <string>
#include <vector>

int main(int count, char** words) {
  kith::cli::watch_for_interrupts();
  return kith::cli::run_command_line(std::vector<std::string>(words + (count > 0 ? 1 : 0), words + count));
}
