# Run by CPack between installing and packing: what Debian's policy asks for and an installation by hand does not need.
file(READ "${CMAKE_CURRENT_LIST_DIR}/copyright" copyright)
file(READ "${CMAKE_CURRENT_LIST_DIR}/../../THIRD_PARTY_NOTICES" notices)
find_program(gzip gzip REQUIRED)
foreach(component "command;${CPACK_DEBIAN_COMMAND_PACKAGE_NAME}" "development;${CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME}")
  list(GET component 0 folder)
  list(GET component 1 package)
  set(root "${CPACK_TEMPORARY_DIRECTORY}/${folder}/usr")
  set(documents "${root}/share/doc/${package}")
  file(WRITE "${documents}/copyright" "${copyright}\n${notices}")
  string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)  # SOURCE_DATE_EPOCH, where it is set
  file(WRITE "${documents}/changelog.Debian"
    "kith (${CPACK_PACKAGE_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE}) unstable; urgency=medium\n\n"
    "  * What changed is told in changelog.gz.\n\n"
    " -- ${CPACK_DEBIAN_PACKAGE_MAINTAINER}  ${now}\n")
  file(COPY_FILE "${CMAKE_CURRENT_LIST_DIR}/../../CHANGELOG.md" "${documents}/changelog")
  execute_process(COMMAND "${gzip}" -9nf "${documents}/changelog" "${documents}/changelog.Debian"
    COMMAND_ERROR_IS_FATAL ANY)
  file(CHMOD_RECURSE "${documents}" FILE_PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ
    DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
endforeach()

file(GLOB_RECURSE archives "${CPACK_TEMPORARY_DIRECTORY}/development/*.a")
find_program(strip strip)
if(strip AND archives)
  execute_process(COMMAND "${strip}" --strip-debug --remove-section=.comment --remove-section=.note
    --enable-deterministic-archives ${archives} COMMAND_ERROR_IS_FATAL ANY)
endif()
