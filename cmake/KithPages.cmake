# Pages that kith writes: kith_embed_page(TARGET FOLDER HEADER NAMESPACE NAME) compiles the style, body and script of FOLDER
# into TARGET as `NAME`, which HEADER declares.
function(kith_embed_page target folder header namespace name)
  set(out "${CMAKE_CURRENT_BINARY_DIR}/${name}.cc")
  file(GLOB parts CONFIGURE_DEPENDS "${folder}/*.js" "${folder}/*.css" "${folder}/*.html" "${folder}/order.txt")
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake")
  add_custom_command(OUTPUT "${out}"
    COMMAND "${CMAKE_COMMAND}" "-DOUT=${out}" "-DFOLDER=${folder}" "-DHEADER=${header}" "-DNAMESPACE=${namespace}"
      "-DNAME=${name}" -P "${script}"
    DEPENDS ${parts} "${script}" VERBATIM COMMENT "Embedding ${folder}")
  set_source_files_properties("${out}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  target_sources(${target} PRIVATE "${out}")
endfunction()
