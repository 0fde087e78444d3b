// The command kith-mpi: kith's searches by all ranks of an MPI program.
#include "help_text.hpp"
#include "interrupt.hpp"
#include "mpi/mpi_commands.hpp"
#include "parse_command_line.hpp"
#include "run_command.hpp"
#include "standard_output.hpp"
#include "suggestion.hpp"

#include <kith/error.hpp>
#include <kith/version.hpp>

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

namespace kith::cli {
namespace {

std::string mpi_guide(const std::vector<Command>& commands) {
  std::string text = fmt::format(
      "kith-mpi {} finds nearest neighbours by all ranks of an MPI program, with the answers of kith.\n\n"
      "Usage: mpirun -n RANKS kith-mpi COMMAND POINTS… [flags]\n\nCommands:\n",
      KITH_VERSION);
  for (const Command& command : commands) text += fmt::format("  {:<12}{}\n", command.name, command.summary);
  return text + "\nkith-mpi COMMAND --help shows the flags and examples of a command.\n";
}

/// Says something once for all ranks.
int say(int rank, const std::string& text) {
  if (rank == 0) write_to_stdout(text);
  return 0;
}

int run(const std::vector<std::string>& words, int rank) {
  guard_standard_descriptors();
  program_name() = "kith-mpi";
  const std::vector<Command> commands = mpi_commands();
  if (words.empty() || words[0] == "--help" || words[0] == "-h") return say(rank, mpi_guide(commands));
  if (words[0] == "--version" || words[0] == "-V") return say(rank, fmt::format("kith-mpi {}\n", KITH_VERSION));
  const auto command =
      std::find_if(commands.begin(), commands.end(), [&](const Command& c) { return c.name == words[0]; });
  if (command == commands.end()) {
    std::vector<std::string> names;
    for (const Command& known : commands) names.push_back(known.name);
    const std::string suggestion = did_you_mean(words[0], names);
    throw UsageError(fmt::format("there is no command \"{}\"{}", words[0],
                                 suggestion.empty() ? "; kith-mpi --help lists the commands" : suggestion));
  }
  if (!parse_words(*command, {words.begin() + 1, words.end()})) return say(rank, help_of(*command));
  return command->run();
}

}  // namespace
}  // namespace kith::cli

int main(int count, char** words) {
  int provided = 0, rank = 0;
  MPI_Init_thread(&count, &words, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  kith::cli::watch_for_interrupts();  // after MPI has set its own
  const std::vector<std::string> all(words + (count > 0 ? 1 : 0), words + count);
  // All ranks fail alike, so one says it.
  const int code =
      kith::cli::run_and_report(all.empty() ? "" : all[0], rank == 0, [&] { return kith::cli::run(all, rank); });
  MPI_Finalize();
  return code;
}
