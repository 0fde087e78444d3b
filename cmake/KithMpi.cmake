# Decides whether kith::mpi and kith-mpi are built, KITH_HAS_MPI.
set(KITH_HAS_MPI OFF)
set(kith_wants_mpi ${KITH_MPI})
if(KITH_MPI STREQUAL "AUTO")
  # Who takes kith as a part of another project says so; the MPI of this machine is not that of another architecture, and
  # sanitizers find leaks in it.
  if(NOT kith_builds_all OR CMAKE_CROSSCOMPILING OR KITH_SANITIZE)
    set(kith_wants_mpi OFF)
  endif()
endif()
if(kith_wants_mpi)
  set(MPI_CXX_SKIP_MPICXX ON)  # the bindings of C are enough
  if(KITH_MPI STREQUAL "AUTO")
    find_package(MPI QUIET COMPONENTS CXX)
  else()
    find_package(MPI REQUIRED COMPONENTS CXX)
  endif()
  if(MPI_CXX_FOUND)
    set(KITH_HAS_MPI ON)
  endif()
endif()
message(STATUS "kith: MPI ${KITH_HAS_MPI}")

# For tests: more ranks than cores, as root in a container, one thread each; a rank that waits leaves its core to others.
set(kith_mpi_environment OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
  OMPI_MCA_btl_vader_single_copy_mechanism=none)
