# relay_embed(FOLDER): embeds FOLDER/*.relay in the program. The definition of
# relay::stdlib::embedded_files() is generated, and joins the sources of the target relay_FOLDER;
# it is generated again when a file changes, comes or goes. Must stand before relay_folder(FOLDER).

function(relay_embed folder)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.relay")
  set(output "${CMAKE_BINARY_DIR}/generated/${folder}/embedded_files.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DFILES=${files}" -P "${script}"
    DEPENDS ${files} "${script}"
    COMMENT "Embedding ${folder}/*.relay"
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY RELAY_GENERATED_${folder} "${output}")
endfunction()
