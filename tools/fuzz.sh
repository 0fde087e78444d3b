#!/usr/bin/env bash
# Builds every fuzzer with clang and runs each for some seconds (default 30): tools/fuzz.sh [SECONDS] [FUZZER...].
# What a fuzzer finds stays in build-fuzz/found; the inputs it learned from stay in build-fuzz/corpus.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

seconds=${1:-30}
shift || true
clang=${KITH_CLANG:-$(command -v clang++ || true)}
if [[ -z $clang ]]; then
  echo "tools/fuzz.sh: clang++ is missing; run tools/setup.sh fuzz, or set KITH_CLANG" >&2
  exit 1
fi

folder=build-fuzz
if [[ ! -f $folder/build.ninja ]]; then
  cmake -S . -B "$folder" -G Ninja -DCMAKE_CXX_COMPILER="$clang" -DCMAKE_BUILD_TYPE=None -DKITH_CUDA=OFF -DKITH_WERROR=OFF \
    -DKITH_BUILD_FUZZERS=ON -DKITH_BUILD_COMMAND=OFF -DKITH_BUILD_TESTS=OFF -DKITH_BUILD_EXAMPLES=OFF
fi
cmake --build "$folder" --parallel "$jobs" --target fuzzers
python3 tests/fuzz/make_seeds.py "$folder/seeds"

fuzzers=("$@")
if [[ ${#fuzzers[@]} -eq 0 ]]; then
  for source in tests/fuzz/*_fuzzer.cpp; do fuzzers+=("$(basename "$source" .cpp)"); done
fi
mkdir -p "$folder/found"
failed=()
for fuzzer in "${fuzzers[@]}"; do
  mkdir -p "$folder/corpus/$fuzzer" "$folder/seeds/$fuzzer"
  log=$folder/found/$fuzzer.log
  echo "$fuzzer: $seconds seconds"
  # Small inputs find more per second; memory limits turn an allocation that a header asks for into a finding.
  if ! "$folder/bin/$fuzzer" -max_total_time="$seconds" -max_len=8192 -timeout=10 -rss_limit_mb=2048 \
    -malloc_limit_mb=512 -print_final_stats=1 -artifact_prefix="$folder/found/$fuzzer-" \
    "$folder/corpus/$fuzzer" "$folder/seeds/$fuzzer" >"$log" 2>&1; then
    failed+=("$fuzzer")
    tail -n 30 "$log" >&2
  else
    grep -E "number_of_executed_units|new_units_added" "$log" | sed 's/^stat::/  /'
  fi
done
if [[ ${#failed[@]} -gt 0 ]]; then
  echo "failed: ${failed[*]} (inputs in $folder/found)" >&2
  exit 1
fi
echo "nothing found"
