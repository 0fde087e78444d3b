// The library's errors as exceptions of Python.
#include "module.hpp"
#include "option_words.hpp"

#include <kith/error.hpp>

#include <exception>
#include <stdexcept>

namespace kith::python {
namespace {

PyObject* exception_for(const Error& error) {
  if (dynamic_cast<const IoError*>(&error) != nullptr) return PyExc_OSError;
  if (dynamic_cast<const OutOfMemory*>(&error) != nullptr) return PyExc_MemoryError;
  if (dynamic_cast<const DeviceError*>(&error) != nullptr) return PyExc_RuntimeError;
  if (dynamic_cast<const LostPeer*>(&error) != nullptr) return PyExc_RuntimeError;
  if (dynamic_cast<const Interrupted*>(&error) != nullptr) return PyExc_KeyboardInterrupt;
  return PyExc_ValueError;  // UsageError, BadData, CorruptFile
}

void translate(const std::exception_ptr& raised, void*) {
  try {
    std::rethrow_exception(raised);
  } catch (const Error& error) {
    PyErr_SetString(exception_for(error), with_arguments(error.what()).c_str());
  } catch (const std::length_error&) {
    PyErr_SetString(PyExc_MemoryError, "the result would be larger than any memory; try fewer points or a smaller k");
  }
}

}  // namespace

void bind_errors(nb::module_&) { nb::register_exception_translator(translate); }

}  // namespace kith::python
