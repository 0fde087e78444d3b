// Many numbers of points as objects of Python.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kith::python {

namespace nb = nanobind;

/// No collections while many objects are made that cannot be garbage yet: each would look at all of them again.
class WithoutCollector {
 public:
  WithoutCollector() : was_on_(PyGC_Disable() != 0) {}
  ~WithoutCollector() {
    if (was_on_) PyGC_Enable();
  }
  WithoutCollector(const WithoutCollector&) = delete;
  WithoutCollector& operator=(const WithoutCollector&) = delete;

 private:
  bool was_on_;
};

/// Numbers of points as Python's. Each is made once: lists of neighbours name every point many times. Needs the GIL.
class SharedNumbers {
 public:
  /// Up to `bound` they are kept; 0 makes each anew.
  explicit SharedNumbers(std::size_t bound) : made_(bound, nullptr) {}
  ~SharedNumbers() {
    for (PyObject* number : made_) Py_XDECREF(number);
  }
  SharedNumbers(const SharedNumbers&) = delete;
  SharedNumbers& operator=(const SharedNumbers&) = delete;

  /// A new reference.
  PyObject* operator[](std::uint32_t number) {
    if (number >= made_.size()) return fresh(number);
    if (made_[number] == nullptr) made_[number] = fresh(number);
    Py_INCREF(made_[number]);
    return made_[number];
  }

 private:
  static PyObject* fresh(std::uint32_t number) {
    PyObject* made = PyLong_FromUnsignedLong(number);
    if (made == nullptr) throw nb::python_error();
    return made;
  }

  std::vector<PyObject*> made_;
};

}  // namespace kith::python
