#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds with CUDA, runs the benchmarks, then side by side the GPU tests, every engine
# against the oracle and compute-sanitizer on the small tests, and prints one table. Results as JSON go to the folder given
# as the first argument (default: build-gpu/results). Libraries that the machine lacks may lie in a folder named by
# KITH_EXTRA_PREFIX; KITH_COMMIT names the commit where there is no git. With nanobind and CuPy the Python package takes part.
set -euo pipefail
cd "$(dirname "$0")/.."
results=${1:-build-gpu/results}
mkdir -p "$results"
rm -f "$results"/*.row
order=()
step() {  # step NAME COMMAND...: runs it, notes time and outcome
  local name=$1 start=$SECONDS outcome=ok
  shift
  echo "=== $name"
  "$@" >"$results/$name.log" 2>&1 || outcome=FAILED
  printf '%-28s %-7s %4d s\n' "$name" "$outcome" $((SECONDS - start)) >"$results/$name.row"
  if [ "$outcome" != ok ]; then
    echo "--- $name failed"
    tail -n 60 "$results/$name.log"
  fi
}
first() { order+=("$1"); step "$@"; }  # before anything else goes on
beside() { order+=("$1"); step "$@" & }  # beside others; `wait` ends it

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv || true
prefix=()
[ -z "${KITH_EXTRA_PREFIX:-}" ] || prefix=(-DCMAKE_PREFIX_PATH="$KITH_EXTRA_PREFIX")
python=()
if python3 -c 'import nanobind, cupy' 2>/dev/null; then python=(_kith); fi
first configure cmake -S . -B build-gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DKITH_CUDA=ON -DKITH_BUILD_BENCHMARKS=ON \
  "${python[@]/#*/-DKITH_BUILD_PYTHON=ON}" "${prefix[@]}"
first build cmake --build build-gpu --target kith_command cuda_tests engine_tests golden_tests gpu_build_timer gpu_search_timer \
  gpu_brute_timer gpu_bits_timer gpu_select_timer gpu_classify_timer gpu_cover_timer gpu_cover_search_timer "${python[@]}"
if grep -q FAILED "$results"/*.row; then exit 1; fi

# Nothing else runs while time is measured.
first devices build-gpu/bin/kith info --devices
first bench build-gpu/bin/kith bench --json
cp "$results/bench.log" "$results/bench.json"
first gpu-build build-gpu/bin/gpu_build_timer "$results/kd_tree_gpu_build.json"
first gpu-search build-gpu/bin/gpu_search_timer "$results/kd_tree_gpu_search.json"
first gpu-brute build-gpu/bin/gpu_brute_timer "$results/brute_force_gpu.json"
first gpu-bits build-gpu/bin/gpu_bits_timer "$results/bits_gpu.json"
first gpu-select build-gpu/bin/gpu_select_timer "$results/select_gpu.json"
first gpu-classify build-gpu/bin/gpu_classify_timer "$results/classify_gpu.json"
first gpu-cover build-gpu/bin/gpu_cover_timer "$results/cover_tree_gpu.json"
words=../shared/data/words/american-english
[ -e "$words" ] || words=-
first gpu-cover-search build-gpu/bin/gpu_cover_search_timer "$results/cover_tree_gpu_search.json" "$words"
export PYTHONPATH=$PWD/build-gpu/python
if ((${#python[@]})); then
  first python-gpu python3 benchmarks/python_gpu.py "$results/python_gpu.json" "$results/kd_tree_gpu_search.json"
  beside python-tests python3 -m pytest -q tests/python
fi

beside gpu-tests ctest --test-dir build-gpu --no-tests=error --output-on-failure -j 6 -L gpu
beside every-engine build-gpu/bin/engine_tests '--gtest_filter=*EveryEngine*:*SequenceIndexOn*'
beside golden-digests build-gpu/bin/golden_tests
if command -v compute-sanitizer >/dev/null; then
  # The sanitizers slow kernels down a hundredfold: only suites made for them.
  small='--gtest_filter=*Small*:ChainsOnDevice*:ListOnDevice*'
  for tool in memcheck racecheck initcheck; do
    for part in 0 1 2; do  # each tool three times side by side, with a third of the tests
      beside "$tool-$((part + 1))" env GTEST_TOTAL_SHARDS=3 GTEST_SHARD_INDEX=$part \
        compute-sanitizer --tool "$tool" --error-exitcode 1 build-gpu/bin/cuda_tests "$small"
    done
  done
fi
wait

echo
cat "$results/devices.log" "$results/bench.log" "$results/gpu-build.log" "$results/gpu-search.log" \
  "$results/gpu-brute.log" "$results/gpu-bits.log" "$results/gpu-classify.log" "$results/gpu-cover.log"  # not gpu-select.log, which has hundreds of lines
echo
echo "stage                        result    time"
for name in "${order[@]}"; do cat "$results/$name.row"; done
! grep -q FAILED "$results"/*.row
