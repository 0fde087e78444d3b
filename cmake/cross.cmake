# Toolchain file: compiles for the other architecture with Debian's cross compilers and foreign packages, and runs what was
# compiled under QEMU. cmake --preset cross does it for x86_64 on arm64 and the other way round; KITH_CROSS_PROCESSOR
# (x86_64 or aarch64) chooses by hand.
cmake_host_system_information(RESULT kith_host_processor QUERY OS_PLATFORM)
if(NOT KITH_CROSS_PROCESSOR)
  if(kith_host_processor STREQUAL "x86_64")
    set(KITH_CROSS_PROCESSOR aarch64)
  else()
    set(KITH_CROSS_PROCESSOR x86_64)
  endif()
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES KITH_CROSS_PROCESSOR)

set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${KITH_CROSS_PROCESSOR})
set(CMAKE_CXX_COMPILER ${KITH_CROSS_PROCESSOR}-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE ${KITH_CROSS_PROCESSOR}-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# The newest processor that QEMU knows, so that every instruction set it can run is tested.
set(CMAKE_CROSSCOMPILING_EMULATOR "qemu-${KITH_CROSS_PROCESSOR};-cpu;max")
