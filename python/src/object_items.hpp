// Objects of Python by what the stable ABI has too: filling new lists and tuples, looking into bytes, names of types.
#pragma once

#include <kith/sequence_set.hpp>

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace kith::python {

/// Puts `item`, whose reference it takes over, into an empty place of a new list.
inline void put_into_list(PyObject* list, Py_ssize_t place, PyObject* item) {
#ifdef Py_LIMITED_API
  PyList_SetItem(list, place, item);
#else
  PyList_SET_ITEM(list, place, item);
#endif
}

/// Puts `item`, whose reference it takes over, into an empty place of a new tuple.
inline void put_into_tuple(PyObject* tuple, Py_ssize_t place, PyObject* item) {
#ifdef Py_LIMITED_API
  PyTuple_SetItem(tuple, place, item);
#else
  PyTuple_SET_ITEM(tuple, place, item);
#endif
}

/// The name of the type of an object, for messages.
inline std::string name_of_type(nanobind::handle value) {
  return nanobind::str(nanobind::handle(value.type()).attr("__name__")).c_str();
}

/// What a bytes object holds, for as long as it lives.
inline std::string_view view_of_bytes(PyObject* bytes) {
  return {PyBytes_AsString(bytes), static_cast<std::size_t>(PyBytes_Size(bytes))};
}

/// A str, bytes, set of int or list of int for each, as their kind says.
nanobind::list python_objects(SequenceView sequences);

}  // namespace kith::python
