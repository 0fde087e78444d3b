# Debian packages by CPack: kith (the command) and libkith-dev (library and headers). tools/package.sh makes them.
if(NOT PROJECT_IS_TOP_LEVEL OR NOT KITH_INSTALL OR NOT TARGET kith_command)
  return()
endif()

# As for other Debian tools, DEBFULLNAME and DEBEMAIL name the maintainer.
set(kith_maintainer "The kith developers <kith@packages.invalid>")
if(DEFINED ENV{DEBFULLNAME} AND DEFINED ENV{DEBEMAIL})
  set(kith_maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kith)
set(CPACK_PACKAGE_VENDOR kith)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has one of its own
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL command development)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/debian/finish_packages.cmake")

set(CPACK_DEBIAN_PACKAGE_MAINTAINER "${kith_maintainer}")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME kith)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION science)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "find nearest neighbours, exactly
kith finds the nearest neighbours of points, strings, sets and bit vectors:
the k nearest, all within a radius, or all inside a box. It reads CSV, NPY,
PLY, PCD, LAS and other files, and gives the same answer, byte for byte, with
every engine and any number of threads.")

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libkith-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS kith)
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "find nearest neighbours, exactly (C++ library)
kith finds the nearest neighbours of points, strings, sets and bit vectors:
the k nearest, all within a radius, or all inside a box. This package has the
C++20 library, its headers, and what CMake and pkg-config need
to find them.")
if(kith_is_static)
  # Programs link these themselves.
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "libfmt-dev, libhwy-dev, liblzf-dev, zlib1g-dev")
  if(KITH_HAS_ZSTD)
    string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libzstd-dev")
  endif()
else()
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS ON)
endif()
include(CPack)
