// The command kith as a function.
#include "module.hpp"

#include "interrupt.hpp"
#include "run_command.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <string>
#include <vector>

namespace kith::python {
namespace {

/// Takes the signals over and does not give them back: for processes that run the command and nothing else.
int run_command(const std::vector<std::string>& words) {
  const nb::gil_scoped_release released;
  cli::watch_for_interrupts();
  return cli::run_command_line(words);
}

}  // namespace

void bind_command(nb::module_& module) { module.def("run_command", &run_command, nb::arg("words")); }

}  // namespace kith::python
