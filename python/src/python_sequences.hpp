// Sequences of the library as objects of Python.
#pragma once

#include <kith/sequence_set.hpp>

#include <nanobind/nanobind.h>

namespace kith::python {

/// A str, bytes, set of int or list of int for each, as their kind says.
nanobind::list python_objects(SequenceView sequences);

}  // namespace kith::python
