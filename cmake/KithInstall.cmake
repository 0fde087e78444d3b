# Install rules: headers, library, command, completion, manual pages, and what find_package and pkg-config need.
include(CMakePackageConfigHelpers)
option(KITH_INSTALL "Make install rules for kith" ${kith_builds_all})
if(NOT KITH_INSTALL)
  return()
endif()

set(kith_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kith")
get_target_property(kith_library_type kith TYPE)
if(kith_library_type STREQUAL "STATIC_LIBRARY")
  set(kith_is_static ON)
else()
  set(kith_is_static OFF)
endif()

# Two components, which become two Debian packages (KithPackage.cmake): the command, and what programs are built with.
install(TARGETS kith EXPORT kithTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/kith" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
  FILES_MATCHING PATTERN "*.hpp" PATTERN "include/kith/mpi" EXCLUDE)
install(EXPORT kithTargets NAMESPACE kith:: DESTINATION "${kith_package_dir}" COMPONENT development)

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/kithConfig.cmake.in" "${PROJECT_BINARY_DIR}/kithConfig.cmake"
  INSTALL_DESTINATION "${kith_package_dir}" NO_CHECK_REQUIRED_COMPONENTS_MACRO)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/kithConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/kithConfig.cmake" "${PROJECT_BINARY_DIR}/kithConfigVersion.cmake"
  DESTINATION "${kith_package_dir}" COMPONENT development)
if(kith_is_static)
  # A static library leaves its own dependencies to the program; these modules find those that CMake does not know.
  install(FILES "${PROJECT_SOURCE_DIR}/cmake/FindHighway.cmake" "${PROJECT_SOURCE_DIR}/cmake/FindLzf.cmake"
    "${PROJECT_SOURCE_DIR}/cmake/FindZstd.cmake"
    DESTINATION "${kith_package_dir}" COMPONENT development)
endif()

file(RELATIVE_PATH kith_pc_to_prefix "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")
set(kith_pc_zstd "")
if(KITH_HAS_ZSTD)
  set(kith_pc_zstd " -lzstd")
endif()
configure_file("${PROJECT_SOURCE_DIR}/cmake/kith.pc.in" "${PROJECT_BINARY_DIR}/kith.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/kith.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT development)
# Debian packages have all of this in a file of their own.
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/THIRD_PARTY_NOTICES"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT licences)

if(TARGET kith_mpi)
  # For those who have the same MPI: no package has it. find_package(kith COMPONENTS mpi) gives kith::mpi.
  install(TARGETS kith_mpi EXPORT kithMpiTargets
    LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT mpi
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT mpi)
  install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/kith/mpi" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/kith" COMPONENT mpi)
  install(EXPORT kithMpiTargets NAMESPACE kith:: DESTINATION "${kith_package_dir}" COMPONENT mpi)
endif()
if(TARGET kith_mpi_command)
  if(NOT kith_is_static)
    file(RELATIVE_PATH kith_bin_to_lib "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(kith_mpi_command PROPERTIES INSTALL_RPATH "$ORIGIN/${kith_bin_to_lib}")
  endif()
  install(TARGETS kith_mpi_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT mpi)
endif()

if(TARGET kith_command)
  if(NOT kith_is_static)
    file(RELATIVE_PATH kith_bin_to_lib "/prefix/${CMAKE_INSTALL_BINDIR}" "/prefix/${CMAKE_INSTALL_LIBDIR}")
    set_target_properties(kith_command PROPERTIES INSTALL_RPATH "$ORIGIN/${kith_bin_to_lib}")
  endif()
  install(TARGETS kith_command RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT command)
  if(NOT CMAKE_CROSSCOMPILING)
    # The command writes its own completion and manual pages, so that they always fit the flags.
    foreach(script "bash;kith.bash" "zsh;_kith")
      list(GET script 0 shell)
      list(GET script 1 file)
      install(CODE "execute_process(COMMAND \"$<TARGET_FILE:kith_command>\" completion ${shell}
        OUTPUT_FILE \"${PROJECT_BINARY_DIR}/${file}\" COMMAND_ERROR_IS_FATAL ANY)" COMPONENT command)
    endforeach()
    install(FILES "${PROJECT_BINARY_DIR}/kith.bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions"
      COMPONENT command RENAME kith)
    install(FILES "${PROJECT_BINARY_DIR}/_kith" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" COMPONENT command)
    install(CODE "set(command \"$<TARGET_FILE:kith_command>\")
      set(folder \"${PROJECT_BINARY_DIR}/man1\")
      include(\"${PROJECT_SOURCE_DIR}/cmake/write_manual_pages.cmake\")" COMPONENT command)
    install(DIRECTORY "${PROJECT_BINARY_DIR}/man1/" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT command)
  endif()
endif()
