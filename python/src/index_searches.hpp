// The searches of Index, for NumPy arrays.
#pragma once

#include <kith/index.hpp>

#include <nanobind/nanobind.h>

namespace kith::python {

void bind_searches(nanobind::class_<Index>& index);

}  // namespace kith::python
