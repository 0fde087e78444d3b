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
# tests NAME WORKERS PROGRAM [FILTER [WORDS]]: the tests of a program that are this I/N, from one queue, run by these words.
# The slowest of an earlier run begin.
tests() {
  local name=$1 workers=$2 program=$3 filter=${4:-*} by=${5:-} left=$((limit - (SECONDS - part_start)))
  local times=benchmarks/results/gpu_test_times/${name%%-*}.json
  if ((left > 10)); then left=$((left - 5)); fi  # it ends before `step` ends it, and says what was left
  step "$name" tools/run_gtests.py --workers "$workers" --seconds "$left" --share "$((first + 1))/$of" --times "$times" \
    --write-times "$results/$name.times.json" --filter "$filter" --by "$by" "build-gpu/bin/$program"
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

# Side by side; not more at a time, because the slowest tests compare with the CPU, which uses all cores.
part_tests() {
  local set running=()
  tests gpu 8 cuda_tests & running+=($!)
  tests engines 2 engine_tests '*EveryEngine*:*SequenceIndexOn*' & running+=($!)
  # The plans of a GPU with 64 KiB of shared memory per block.
  tests small 2 cuda_tests '*Small*' 'env KITH_GPU_SHARED_KIB=64' & running+=($!)
  # The digests on the GPU and on the CPU, there with every instruction set it has.
  for set in $(build-gpu/bin/kith info --devices --json |
    python3 -c 'import json, sys; print(*json.load(sys.stdin)["devices"][0]["instruction_sets"])'); do
    tests "golden-$set" 1 golden_tests '*' "env KITH_SIMD=$set" & running+=($!)
    tests "cpu-$set" 1 cpu_tests '*' "env KITH_SIMD=$set" & running+=($!)
  done
  wait "${running[@]}"
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
  if [[ $1 == racecheck ]]; then rounds=20; fi
  tests "$1" "$(nproc)" cuda_tests '*Small*:ReducedOnDevice*:ListOnDevice*' \
    "env KITH_TEST_ROUNDS=$rounds compute-sanitizer --tool $1 --error-exitcode 1"
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
  if ((first == 0)); then rm -f "$results/rows/$part."* "$results/rows/$part"; fi  # of a run before
  "part_$part"
  report took "$results" "$part" "$((SECONDS - part_start))"
  if [ "$part" = build ] && ! report passed "$results" build; then break; fi
done
echo
report join "$results"
