#!/usr/bin/env bash
# Measures: the searches of kith by themselves, then against other libraries. Results as JSON in benchmarks/results, tables
# and plots in the documentation.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

tools/build.sh kith_command
cmake -S . -B build -DKITH_BUILD_BENCHMARKS=ON >/dev/null
tools/build.sh kith_command read_points_timer brute_force_benchmark kd_tree_timer cover_tree_timer classify_timer five_systems_timer
build/bin/brute_force_benchmark --benchmark_out=build/brute_force_benchmark.json "$@"
PATH="$PWD/build/bin:$PATH" .venv/bin/python benchmarks/compare_peers.py
.venv/bin/python benchmarks/compare_kd_tree.py
.venv/bin/python benchmarks/compare_cover_tree.py
.venv/bin/python benchmarks/compare_classify.py
tools/build_python.sh
PYTHONPATH="$PWD/build/python" .venv/bin/python benchmarks/compare_registration.py
.venv/bin/python benchmarks/read_csv_against_numpy.py --timer build/bin/read_points_timer --megabytes 1000 \
  --out benchmarks/results/read_csv.json
build/bin/five_systems_timer benchmarks/results/five_systems_cpu.json --device cpu --part 16
.venv/bin/python tools/make_tables.py
.venv/bin/python tools/make_plots.py
