#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds with CUDA, measures, tests, and runs compute-sanitizer, in parts that each end
# within 8 minutes on 16 cores. The folder build-gpu stays between calls.
#
#   tools/gpu_check.sh [PART[:I/N]...] [RESULTS_DIR]
#
# Parts: build bench tests python memcheck racecheck initcheck; none named: all, in this order. tests:2/3 is the second third
# of a part, for all but build and python. A step that takes longer than KITH_PART_SECONDS (default 460) is ended and noted
# as "timed out"; a build that was ended goes on where it was when it is called again.
#
# RESULTS_DIR (default: build-gpu/results) gets logs, the JSON of benchmarks, and a row per step in rows/. After each call
# tools/gpu_check_report.py joins all rows to gpu_check.json and prints them as a table; the exit code is 1 if one failed.
# Libraries that the machine lacks may lie in a folder named by KITH_EXTRA_PREFIX; KITH_COMMIT names the commit where there is
# no git. With nanobind and CuPy the Python package takes part.
set -euo pipefail
cd "$(dirname "$0")/.."
all_parts=(build bench tests python memcheck racecheck initcheck)
limit=${KITH_PART_SECONDS:-460}
results=build-gpu/results
parts=()
for word in "$@"; do
  if [[ " ${all_parts[*]} " == *" ${word%%:*} "* ]]; then parts+=("$word"); else results=$word; fi
done
((${#parts[@]})) || parts=("${all_parts[@]}")
mkdir -p "$results/rows"
report() { python3 tools/gpu_check_report.py "$@"; }

part=
part_start=0
# step NAME COMMAND...: runs it within what is left of the part's time, and notes outcome, time and counts.
step() {
  local name=$1 start=$SECONDS code=0 left=$((limit - (SECONDS - part_start)))
  shift
  echo "=== $part: $name"
  if ((left < 1)); then left=1; fi
  timeout --kill-after=20 "$left" "$@" >"$results/$name.log" 2>&1 || code=$?
  report row "$results" "$part" "$name" "$code" "$((SECONDS - start))"
  if ((code != 0)); then
    echo "--- $name ended with $code"
    tail -n 40 "$results/$name.log"
  fi
}
# in_shards NAME COUNT COMMAND...: a program of GoogleTest as COUNT processes side by side, each with its share of the tests
# of this I/N.
in_shards() {
  local name=$1 count=$2 shard running=()
  shift 2
  for ((shard = 0; shard < count; ++shard)); do
    step "$name-$((first * count + shard + 1))" env GTEST_TOTAL_SHARDS=$((count * of)) \
      GTEST_SHARD_INDEX=$((first * count + shard)) "$@" &
    running+=($!)
  done
  wait "${running[@]}"
}
has_python() { python3 -c 'import nanobind, cupy' 2>/dev/null; }

part_build() {
  local prefix=() python=()
  [ -z "${KITH_EXTRA_PREFIX:-}" ] || prefix=(-DCMAKE_PREFIX_PATH="$KITH_EXTRA_PREFIX")
  if has_python; then python=(_kith); fi
  # For the GPUs that are here: cmake/KithCuda.cmake.
  step configure cmake -S . -B build-gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DKITH_CUDA=ON -DKITH_BUILD_BENCHMARKS=ON \
    "${python[@]/#*/-DKITH_BUILD_PYTHON=ON}" "${prefix[@]}"
  step compile cmake --build build-gpu --target kith_command cuda_tests engine_tests golden_tests cpu_tests gpu_build_timer \
    gpu_builders_timer gpu_search_timer gpu_brute_timer gpu_bits_timer gpu_select_timer gpu_classify_timer gpu_cloud_timer \
    gpu_dedupe_timer gpu_register_timer gpu_tree_timer gpu_cover_timer gpu_cover_search_timer five_systems_timer "${python[@]}"
  step devices build-gpu/bin/kith info --devices
  cat "$results/devices.log"
}

# Nothing else runs while time is measured.
part_bench() {
  local words=../shared/data/words/american-english number=0 name
  local bunny=../shared/data/stanford_bunny/bun_zipper.ply
  [ -e "$words" ] || words=-
  [ -e "$bunny" ] || bunny=
  for name in bench gpu-build gpu-builders gpu-search gpu-cliffs gpu-brute gpu-bits gpu-select gpu-classify gpu-clouds gpu-dedupe gpu-register \
    gpu-tree gpu-cover gpu-cover-search five-systems; do
    ((number++ % of == first)) || continue
    case $name in
      bench)
        step bench build-gpu/bin/kith bench --json
        cp "$results/bench.log" "$results/bench.json"
        ;;
      gpu-build) step "$name" build-gpu/bin/gpu_build_timer "$results/kd_tree_gpu_build.json" ;;
      gpu-builders) step "$name" build-gpu/bin/gpu_builders_timer "$results/kd_tree_builders_gpu.json" "$bunny" ;;
      gpu-search) step "$name" build-gpu/bin/gpu_search_timer "$results/kd_tree_gpu_search.json" ;;
      gpu-cliffs) step "$name" build-gpu/bin/gpu_search_timer "$results/kd_tree_gpu_cliffs.json" cliffs ;;
      gpu-brute) step "$name" build-gpu/bin/gpu_brute_timer "$results/brute_force_gpu.json" ;;
      gpu-bits) step "$name" build-gpu/bin/gpu_bits_timer "$results/bits_gpu.json" ;;
      gpu-select) step "$name" build-gpu/bin/gpu_select_timer "$results/select_gpu.json" ;;
      gpu-classify) step "$name" build-gpu/bin/gpu_classify_timer "$results/classify_gpu.json" ;;
      gpu-clouds) step "$name" build-gpu/bin/gpu_cloud_timer "$results/clouds_gpu.json" ;;
      gpu-dedupe) step "$name" build-gpu/bin/gpu_dedupe_timer "$results/dedupe_gpu.json" ;;
      gpu-register) step "$name" build-gpu/bin/gpu_register_timer "$results/register_gpu.json" ;;
      gpu-tree) step "$name" build-gpu/bin/gpu_tree_timer "$results/tree_gpu.json" ;;
      gpu-cover) step "$name" build-gpu/bin/gpu_cover_timer "$results/cover_tree_gpu.json" ;;
      gpu-cover-search) step "$name" build-gpu/bin/gpu_cover_search_timer "$results/cover_tree_gpu_search.json" "$words" ;;
      five-systems) step "$name" build-gpu/bin/five_systems_timer "$results/five_systems_gpu.json" ;;
    esac
    case $name in gpu-select | five-systems) ;; *) cat "$results/$name.log" ;; esac  # those have hundreds of lines
  done
}

# Few processes: the slowest tests compare with the CPU, which uses all cores.
part_tests() {
  in_shards gpu-tests 6 build-gpu/bin/cuda_tests
  in_shards every-engine 2 build-gpu/bin/engine_tests '--gtest_filter=*EveryEngine*:*SequenceIndexOn*'
  # The digests on the GPU and on the CPU, there with every instruction set it has.
  local set
  for set in $(build-gpu/bin/kith info --devices --json |
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["devices"][0]["instruction_sets"])'); do
    in_shards "golden-$set" 1 env KITH_SIMD="$set" build-gpu/bin/golden_tests
    in_shards "cpu-$set" 4 env KITH_SIMD="$set" build-gpu/bin/cpu_tests
  done
  # The plans of a GPU with 64 KiB of shared memory per block.
  in_shards small-gpu 4 env KITH_GPU_SHARED_KIB=64 build-gpu/bin/cuda_tests '--gtest_filter=*Small*'
}

part_python() {
  if ! has_python; then
    echo "=== python: skipped, nanobind or CuPy is not there"
    return
  fi
  export PYTHONPATH=$PWD/build-gpu/python
  if [ -e "$results/kd_tree_gpu_search.json" ]; then  # what it is compared with; bench makes it
    step python-gpu python3 benchmarks/python_gpu.py "$results/python_gpu.json" "$results/kd_tree_gpu_search.json"
  fi
  step python-tests python3 -m pytest -q tests/python
}

# The sanitizers slow kernels down a hundredfold: only suites made for them.
sanitize() {
  if ! command -v compute-sanitizer >/dev/null; then
    echo "=== $1: skipped, compute-sanitizer is not on the PATH"
    return
  fi
  # Races are looked for in every access to shared memory: fewer random cases.
  local rounds=1
  if [[ $1 == racecheck ]]; then rounds=6; fi
  in_shards "$1" 12 env KITH_TEST_ROUNDS=$rounds compute-sanitizer --tool "$1" --error-exitcode 1 build-gpu/bin/cuda_tests \
    '--gtest_filter=*Small*:ReducedOnDevice*:ListOnDevice*'
}
part_memcheck() { sanitize memcheck; }
part_racecheck() { sanitize racecheck; }
part_initcheck() { sanitize initcheck; }

report machine "$results"
for word in "${parts[@]}"; do
  part=${word%%:*} part_start=$SECONDS first=0 of=1
  if [[ $word == *:* ]]; then
    if [[ ! ${word#*:} =~ ^([0-9]+)/([0-9]+)$ ]]; then
      echo "gpu_check.sh: $word: give a share as $part:2/3" >&2
      exit 2
    fi
    first=$((BASH_REMATCH[1] - 1)) of=${BASH_REMATCH[2]}
    if ((first < 0 || first >= of)); then
      echo "gpu_check.sh: $word: there is no such share" >&2
      exit 2
    fi
  fi
  if ((first == 0)); then rm -f "$results/rows/$part."*; fi  # of a run before
  "part_$part"
  if [ "$part" = build ] && ! report passed "$results" build; then break; fi
done
echo
report join "$results"
