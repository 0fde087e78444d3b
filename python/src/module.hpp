// What each file adds to the extension module.
#pragma once

#include <nanobind/nanobind.h>

namespace kith::python {

namespace nb = nanobind;

void bind_errors(nb::module_& module);
void bind_devices(nb::module_& module);
void bind_device_rows(nb::module_& module);
void bind_index(nb::module_& module);
void bind_device_search(nb::module_& module);
void bind_classify(nb::module_& module);
void bind_clouds_on_device(nb::module_& module);
void bind_dedupe(nb::module_& module);
void bind_transform(nb::module_& module);
void bind_downsample(nb::module_& module);
void bind_outliers(nb::module_& module);
void bind_distance(nb::module_& module);
void bind_registration(nb::module_& module);
void bind_view(nb::module_& module);
void bind_class_votes(nb::module_& module);
void bind_point_files(nb::module_& module);
void bind_bit_index(nb::module_& module);
void bind_sequences(nb::module_& module);
void bind_shards(nb::module_& module);
void bind_sharded_index(nb::module_& module);
void bind_sequence_index(nb::module_& module);
void bind_metric_tree(nb::module_& module);
void bind_tree_export(nb::module_& module);
void bind_command(nb::module_& module);
void bind_spatial_searches(nb::module_& module);
void bind_spatial_trees(nb::module_& module);

}  // namespace kith::python
