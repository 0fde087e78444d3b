#!/usr/bin/env bash
# Everything that must hold before a change goes in, stage by stage; stops at the first stage that fails.
# tools/test.sh STAGE... runs only those: includes headers release simd python browser docs
# install asan cross cuda.
# KITH_SKIP_CROSS=1 leaves out the stage that installs compilers and libraries of the other architecture.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/paths.sh"

passed=0
failed=0
stage_name=
stage_start=0

finish() {
  local status=$?
  if ((status != 0)); then
    if ((failed == 0)); then failed=1; fi  # a stage that broke before it counted anything
    printf '\nstage "%s" failed\n' "$stage_name"
  fi
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

begin() {
  stage_name=$1
  stage_start=$SECONDS
  printf '\n== %s\n' "$1"
}
end() { printf '   %d s\n' $((SECONDS - stage_start)); }

# Runs a check that is right or wrong as a whole.
check() {
  if "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    return 1
  fi
}

# Runs the tests of a build folder, or those that further arguments of ctest choose; only failures are shown in full.
run_tests() {
  local folder=$1 log=$1/test.log status=0
  shift
  ctest --test-dir "$folder" --parallel "$jobs" --output-on-failure --no-tests=error "$@" >"$log" 2>&1 || status=$?
  # "100% tests passed out of 9" or "88% tests passed, 1 tests failed out of 9"; older versions say 0 tests failed.
  local total bad skipped
  total=$(sed -n 's/^[0-9]*% tests passed.* out of \([0-9]*\)$/\1/p' "$log")
  bad=$(sed -n 's/^[0-9]*% tests passed, \([0-9]*\) tests* failed out of [0-9]*$/\1/p' "$log")
  bad=${bad:-0}
  skipped=$(grep -c '\*\*\*Skipped' "$log" || true)
  if [[ -z $total ]]; then
    tail -n 40 "$log"
    return 1
  fi
  passed=$((passed + total - bad - skipped))
  failed=$((failed + bad))
  printf '   %d of %d tests passed, %d skipped\n' $((total - bad - skipped)) "$total" "$skipped"
  if ((status != 0)); then
    grep -vE ' Passed |\*\*\*Skipped|^ +Start |\(Skipped\)$' "$log" || true
    return 1
  fi
}

stage_release() {
  begin 'release build and its tests'
  tools/build.sh
  run_tests build
  end
}

# Runs one of the parts of a program's tests. The last line of its log is how it ended.
run_part() {
  local part=$1 status=0
  shift
  GTEST_TOTAL_SHARDS=$jobs GTEST_SHARD_INDEX=$part "$@" || status=$?
  printf 'ended with %d\n' "$status"
}

# run_in_parts LOGS FILTER PROGRAM...: runs the parts of these programs, as many of each as there are cores and as many at a
# time: when one program comes to its end on one core, the next begins. Programs are started by the words of `runner`.
runner=()
run_in_parts() {
  local logs_at=$1 filter=$2 program part log logs=() running=0 status=0 good bad
  shift 2
  for program in "$@"; do
    for ((part = 0; part < jobs; ++part)); do
      if ((running == jobs)); then wait -n || true; else running=$((running + 1)); fi
      log=$logs_at-${program##*/}-$part.log
      logs+=("$log")
      run_part "$part" "${runner[@]}" "$program" --gtest_filter="$filter" >"$log" 2>&1 &
    done
  done
  wait
  for log in "${logs[@]}"; do
    good=$(sed -n 's/^\[  PASSED  \] \([0-9]*\) tests*\.$/\1/p' "$log")
    bad=$(sed -n 's/^\[  FAILED  \] \([0-9]*\) tests*, listed below:$/\1/p' "$log")
    passed=$((passed + ${good:-0}))
    failed=$((failed + ${bad:-0}))
    if [[ -z $good || $(tail -n 1 "$log") != 'ended with 0' ]]; then
      status=1
      tail -n 60 "$log"
    fi
  done
  return "$status"
}

stage_asan() {
  begin 'the same under the address and undefined-behaviour sanitizers'
  tools/build.sh --preset asan
  export UBSAN_OPTIONS=print_stacktrace=1
  # The search for leaks takes seconds per process on some machines: once per program and part then, not once per test.
  # The random tests are too slow for it, and the command ends in ways of its own.
  ASAN_OPTIONS=detect_leaks=0 run_tests build-asan --tests-regex OnRandomCases
  tools/build.sh cli_tests
  KITH_TEST_COMMAND=$PWD/build-asan/bin/kith ASAN_OPTIONS=detect_leaks=0 run_tests build --tests-regex '^cli/'
  local programs before=$passed
  mapfile -t programs < <(ls -S build-asan/bin/*_tests | grep -v /cli_tests)  # the largest take longest: they begin
  ASAN_OPTIONS=detect_leaks=1 run_in_parts build-asan/leaks '-*OnRandomCases*' "${programs[@]}"
  printf '   %d other tests passed, no leaks\n' $((passed - before))
  end
}

# What a command of kith calls the instruction sets of its CPU, the one in use first.
instruction_sets() {
  "${runner[@]}" "$1" info --devices --json --quiet |
    .venv/bin/python -c 'import json, sys; print("\n".join(json.load(sys.stdin)["devices"][0]["instruction_sets"]))'
}

# with_each_set FILTER SETS PROGRAM...: runs these tests with each of the instruction sets.
with_each_set() {
  local filter=$1 set before
  local -n sets_to_run=$2
  shift 2
  for set in "${sets_to_run[@]}"; do
    before=$passed
    KITH_SIMD=$set run_in_parts "$(dirname "$1")/../$set" "$filter" "$@"
    printf '   %s: %d tests passed\n' "$set" $((passed - before))
  done
}

stage_simd() {
  begin 'kernels, engines and digests with every other instruction set of this machine'
  tools/build.sh kith_command cpu_tests engine_tests golden_tests
  local sets others
  mapfile -t sets < <(instruction_sets build/bin/kith)
  if ((${#sets[@]} == 0)); then return 1; fi
  others=("${sets[@]:1}")
  if ((${#others[@]} == 0)); then printf '   %s is the only one, and all tests use it\n' "${sets[0]}"; fi
  with_each_set '*' others build/bin/{golden,cpu,engine}_tests
  end
}

# Everything that has vectors in it, compiled for every instruction set of the other architecture.
compile_simd_sources() {
  local compiler=$1 source
  for source in $(grep -rl --include='*.cpp' 'hwy/highway.h' src); do
    "$compiler" -std=c++20 -O1 -ffp-contract=off -Wall -Wextra -Werror -c -o /dev/null -I include -I src -idirafter /usr/include \
      "$source" || return 1
  done
}

stage_cross() {
  local other=x86_64
  if [[ $(uname -m) == x86_64 ]]; then other=aarch64; fi
  begin "the other architecture, $other: compiled here and run under emulation"
  if [[ ${KITH_SKIP_CROSS:-0} == 1 ]]; then
    printf '   skipped: KITH_SKIP_CROSS=1\n'
    return
  fi
  if ! tools/setup.sh cross; then
    printf '   libraries of %s are not to be had: its instruction sets are compiled for, nothing is run\n' "$other"
    tools/setup.sh cross-compiler
    check compile_simd_sources "$other-linux-gnu-g++"
    end
    return
  fi
  tools/build.sh --preset cross kith_command cpu_tests golden_tests
  local sets runner=("qemu-$other" -cpu max)
  mapfile -t sets < <(instruction_sets build-cross/bin/kith)
  if ((${#sets[@]} == 0)); then return 1; fi
  # The digests hold every engine, file and application to the answers of this machine. Two tests that take half the time
  # under emulation are left to this machine.
  with_each_set '-KdTree.IsTheSameForEveryThreadCount:CoverTreeBuildOverSpaces.LongVectorsAsDefined' sets \
    build-cross/bin/{cpu,golden}_tests
  # The tests of the command are those of this machine; the command they start is the other one.
  printf '#!/bin/sh\nexec %s "%s" "$@"\n' "${runner[*]}" "$PWD/build-cross/bin/kith" >build-cross/kith-emulated
  chmod +x build-cross/kith-emulated
  tools/build.sh cli_tests
  KITH_TEST_COMMAND=$PWD/build-cross/kith-emulated run_tests build --tests-regex '^cli/'
  end
}

# Runs pytest with these arguments and counts what it says: "3 failed, 850 passed, 11 skipped in 30.1s".
run_pytest() {
  local log=build/$1.log status=0 good bad
  shift
  PYTHONPATH="$PWD/build/python" .venv/bin/python -m pytest -q "$@" >"$log" 2>&1 || status=$?
  good=$(tail -n 1 "$log" | sed -n 's/.*\b\([0-9]\+\) passed.*/\1/p')
  bad=$(tail -n 1 "$log" | sed -n 's/.*\b\([0-9]\+\) failed.*/\1/p')
  passed=$((passed + ${good:-0}))
  failed=$((failed + ${bad:-0}))
  printf '   %s\n' "$(tail -n 1 "$log")"
  if ((status != 0)); then
    tail -n 100 "$log"
    return 1
  fi
}

stage_python() {
  begin 'the Python package: its tests, docstrings, pages and examples'
  tools/build_python.sh
  run_pytest pytest --numprocesses "$jobs"
  run_pytest doctest --pyargs kith --doctest-modules
  end
}

stage_browser() {
  begin 'the pages that kith writes, in a browser'
  tools/build.sh kith_command
  run_pytest browser --numprocesses "$jobs" tests/browser
  end
}

stage_headers() {
  begin 'every public header compiles alone'
  check tools/check_headers.sh
  end
}

stage_includes() {
  begin 'includes follow the direction of the design'
  check .venv/bin/python tools/check_includes.py --self-test
  check .venv/bin/python tools/check_includes.py
  end
}

stage_docs() {
  begin 'the documentation: links, marked examples, folder READMEs, tables, plots and drawings'
  PATH="$PWD/build/bin:$PATH" check .venv/bin/python tools/check_docs.py
  check .venv/bin/python tools/folder_readmes.py --check
  check .venv/bin/python tools/make_tables.py --check
  check .venv/bin/python tools/make_plots.py --check
  check .venv/bin/python tools/make_drawings.py --check
  end
}

stage_install() {
  begin 'install, and use as strangers would'
  tools/build.sh  # what is installed must be whole
  check tests/install/run.sh
  end
}

stage_cuda() {
  begin 'the CUDA sources compile'
  if ! command -v nvcc >/dev/null; then
    printf '   skipped: nvcc is not on the PATH\n'
    return
  fi
  # Nothing of it runs here: it is compiled to PTX, and by compilers that can do so without most optimisations, which is
  # many times as fast. tools/gpu_check.sh compiles all of it.
  local flags=
  if [[ $(nvcc --help) == *--Ofast-compile* ]]; then flags='--Ofast-compile max'; fi
  CUDAFLAGS="$flags ${CUDAFLAGS:-}" check tools/build.sh --preset cuda-compile kith_cuda cuda_test_kernels
  end
}

stages=("$@")
if ((${#stages[@]} == 0)); then stages=(includes headers release simd python browser docs install asan cross cuda); fi
for stage in "${stages[@]}"; do "stage_$stage"; done
