// The extension module kith._kith: what the Python code of the package is written on. _kith.pyi describes it.
#include "module.hpp"

NB_MODULE(_kith, module) {
  // Caches of others (hypothesis, PyTorch) may keep functions beyond the end of the interpreter; that is no leak of
  // ours.
  nanobind::set_leak_warnings(false);
  module.doc() = "What the Python code of kith is written on. Use the package kith.";
  kith::python::bind_errors(module);
  kith::python::bind_devices(module);
  kith::python::bind_device_rows(module);
  kith::python::bind_index(module);
  kith::python::bind_device_search(module);
  kith::python::bind_classify(module);
  kith::python::bind_clouds_on_device(module);
  kith::python::bind_dedupe(module);
  kith::python::bind_transform(module);
  kith::python::bind_downsample(module);
  kith::python::bind_outliers(module);
  kith::python::bind_distance(module);
  kith::python::bind_registration(module);
  kith::python::bind_view(module);
  kith::python::bind_class_votes(module);
  kith::python::bind_point_files(module);
  kith::python::bind_bit_index(module);
  kith::python::bind_sequences(module);
  kith::python::bind_sequence_index(module);
  kith::python::bind_shards(module);
  kith::python::bind_sharded_index(module);
  kith::python::bind_metric_tree(module);
  kith::python::bind_tree_export(module);
  kith::python::bind_command(module);
  kith::python::bind_spatial_searches(module);
  kith::python::bind_spatial_trees(module);
}
