# Settings that every target of kith shares.

# GCC looks for garbage less often where memory is plenty: about a tenth of the time of a build.
cmake_host_system_information(RESULT kith_memory_in_mib QUERY TOTAL_PHYSICAL_MEMORY)
set(kith_garbage_options)
if(kith_memory_in_mib GREATER 12000)
  set(kith_garbage_options --param=ggc-min-expand=300 --param=ggc-min-heapsize=1000000)
endif()

# Language level, exact arithmetic, warnings and sanitizers for one target.
function(kith_settings target)
  target_compile_features(${target} PRIVATE cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  # The contract: only the fma that is written down, nothing contracted behind our back.
  target_compile_options(${target} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wno-psabi>
    # GCC 12 and 13 warn of overlapping or overflowing copies inside std::string and std::vector where there are none.
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds>
    "$<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:${kith_garbage_options}>"
    $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false --expt-relaxed-constexpr -Xcompiler=-Wall,-Wextra,-Wshadow,-ffp-contract=off>)
  if(KITH_WERROR)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-Werror> $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings -Xcompiler=-Werror>)
  endif()
  if(KITH_SANITIZE)
    target_compile_options(${target} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${KITH_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer>)
    target_link_options(${target} PRIVATE -fsanitize=${KITH_SANITIZE})
  endif()
endfunction()
