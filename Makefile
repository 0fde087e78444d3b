# Shortcuts for the daily work; `make` alone lists them. The work itself is done by CMake and the scripts in tools/.
.DEFAULT_GOAL := help
.PHONY: help build demo test bench fuzz docs wheel package format check-format tidy clean

help:  ## list these targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-13s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

build:  ## build the command: build/bin/kith
	@tools/setup.sh build
	@tools/build.sh kith_command

demo:  ## build, scan a made-up street, find the neighbours of every point, check them
	@tools/setup.sh build
	@tools/build.sh kith_command
	@tools/demo.sh

test:  ## all tests and checks, as the CI runs them
	@tools/setup.sh test
	@tools/test.sh

bench:  ## time searches and compare with other libraries
	@tools/setup.sh bench
	@tools/bench.sh

fuzz:  ## feed damaged files to every reader
	@tools/setup.sh fuzz
	@tools/fuzz.sh

docs:  ## check links and marked examples of the documentation, then make its site: build-docs/html
	@tools/setup.sh docs
	@tools/build.sh kith_command
	@PATH="$(CURDIR)/build/bin:$$PATH" .venv/bin/python tools/check_docs.py
	@.venv/bin/python tools/folder_readmes.py --check
	@.venv/bin/python tools/make_drawings.py --check
	@tools/docs.sh

wheel:  ## Python wheels that need nothing else, in dist/; CUDA=1: with the CUDA backend
	@tools/setup.sh wheel
	@KITH_WHEEL_CUDA=$(if $(filter-out 0 OFF,$(CUDA)),ON,OFF) tools/wheel.sh

package:  ## a Debian package, in dist/
	@tools/setup.sh package
	@tools/package.sh

format:  ## format all C++ and JavaScript sources
	@tools/setup.sh format
	@tools/format.sh

check-format:  ## fail if a C++ or JavaScript source is not formatted
	@tools/setup.sh format
	@tools/format.sh --check

tidy:  ## run clang-tidy over the library and the command, oxlint over scripts of pages
	@tools/setup.sh tidy
	@tools/tidy.sh

clean:  ## remove everything that was built; the set-up in .venv stays
	@rm -rf build build-debug build-asan build-tsan build-cuda build-bench build-fuzz build-install build-docs \
	  build-cross build-cuda-compile build-wheel build-wheel-cuda build-package dist
