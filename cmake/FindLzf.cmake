# Finds liblzf (liblzf-dev) as the target Lzf::lzf.
find_path(Lzf_INCLUDE_DIR lzf.h PATH_SUFFIXES liblzf)
find_library(Lzf_LIBRARY lzf)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Lzf REQUIRED_VARS Lzf_LIBRARY Lzf_INCLUDE_DIR)
if(Lzf_FOUND AND NOT TARGET Lzf::lzf)
  add_library(Lzf::lzf UNKNOWN IMPORTED)
  set_target_properties(Lzf::lzf PROPERTIES
    IMPORTED_LOCATION "${Lzf_LIBRARY}" INTERFACE_INCLUDE_DIRECTORIES "${Lzf_INCLUDE_DIR}")
endif()
mark_as_advanced(Lzf_INCLUDE_DIR Lzf_LIBRARY)
