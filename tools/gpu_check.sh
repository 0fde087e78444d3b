#!/usr/bin/env bash
# On a machine with an NVIDIA GPU: builds with CUDA, runs all tests there, compute-sanitizer on the small GPU tests and the
# benchmarks, and prints one table. Results as JSON go to the folder given as the first argument (default: build-gpu/results).
# Libraries that the machine lacks may lie in a folder named by KITH_EXTRA_PREFIX; KITH_COMMIT names the commit where there is
# no git.
set -euo pipefail
cd "$(dirname "$0")/.."
results=${1:-build-gpu/results}
mkdir -p "$results"
rows=()
step() {  # step NAME COMMAND...: runs it, notes time and outcome
  local name=$1 start=$SECONDS outcome=ok
  shift
  echo "=== $name"
  "$@" >"$results/$name.log" 2>&1 || outcome=FAILED
  rows+=("$(printf '%-28s %-7s %4d s' "$name" "$outcome" $((SECONDS - start)))")
  [ "$outcome" = ok ] || tail -n 60 "$results/$name.log"
}

nvidia-smi --query-gpu=name,driver_version,memory.total --format=csv || true
prefix=()
[ -z "${KITH_EXTRA_PREFIX:-}" ] || prefix=(-DCMAKE_PREFIX_PATH="$KITH_EXTRA_PREFIX")
step configure cmake -S . -B build-gpu -G Ninja -DCMAKE_BUILD_TYPE=Release -DKITH_CUDA=ON -DKITH_BUILD_BENCHMARKS=ON \
  "${prefix[@]}"
step build cmake --build build-gpu
[[ ${rows[*]} != *FAILED* ]] || exit 1
step tests ctest --test-dir build-gpu --no-tests=error --output-on-failure -j "$(nproc)" -LE gpu
step gpu-tests ctest --test-dir build-gpu --no-tests=error --output-on-failure -L gpu
if command -v compute-sanitizer >/dev/null; then
  # The sanitizers slow kernels down a hundredfold: only suites made for them.
  small='--gtest_filter=*Small*:ChainsOnDevice*:ListOnDevice*'
  step memcheck compute-sanitizer --tool memcheck --error-exitcode 1 build-gpu/bin/cuda_tests "$small"
  step racecheck compute-sanitizer --tool racecheck --error-exitcode 1 build-gpu/bin/cuda_tests "$small"
  step initcheck compute-sanitizer --tool initcheck --error-exitcode 1 build-gpu/bin/cuda_tests "$small"
fi
step devices build-gpu/bin/kith info --devices
step bench build-gpu/bin/kith bench --json
cp "$results/bench.log" "$results/bench.json"
step gpu-build build-gpu/bin/gpu_build_timer "$results/kd_tree_gpu_build.json"
step gpu-search build-gpu/bin/gpu_search_timer "$results/kd_tree_gpu_search.json"

echo
echo "stage                        result    time"
printf '%s\n' "${rows[@]}"
cat "$results/devices.log" "$results/bench.log" "$results/gpu-build.log" "$results/gpu-search.log"
! printf '%s\n' "${rows[@]}" | grep -q FAILED
