# relay_embed(FOLDER HEADER FUNCTION file...): embeds the files in the program. The definition of
# relay::FOLDER::FUNCTION(), which HEADER declares, is generated, and joins the sources of the target
# relay_FOLDER; it is generated again when a file changes. Must stand before relay_folder(FOLDER).

function(relay_embed folder header function)
  set(output "${CMAKE_BINARY_DIR}/generated/${folder}/${function}.cpp")
  set(script "${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "${CMAKE_COMMAND}" "-DOUTPUT=${output}" "-DFILES=${ARGN}" "-DFOLDER=${folder}"
            "-DHEADER=${header}" "-DFUNCTION=${function}" -P "${script}"
    DEPENDS ${ARGN} "${script}"
    COMMENT "Embedding ${function}"
    VERBATIM)
  set_source_files_properties("${output}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_property(GLOBAL APPEND PROPERTY RELAY_GENERATED_${folder} "${output}")
endfunction()
