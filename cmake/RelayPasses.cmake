# relay_passes(FOLDER): writes FOLDER::passes_of_files(), which FOLDER/pass_files.h declares, from the
# names of the files FOLDER/passes/*.cpp, and lets it join the sources of the target relay_FOLDER.
# Must stand before relay_folder(FOLDER).

function(relay_passes folder)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/passes/*.cpp")
  set(declared "")
  set(called "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WE)
    string(APPEND declared "Pass ${name}_pass();\n")
    string(APPEND called "          ${name}_pass(),\n")
  endforeach()
  set(output "${CMAKE_BINARY_DIR}/generated/${folder}/passes_of_files.cpp")
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
       "#include \"${folder}/pass_files.h\"\n\nnamespace relay::${folder} {\n\n${declared}
std::vector<Pass> passes_of_files() {\n  return {\n${called}  };\n}\n\n}  // namespace relay::${folder}\n")
  set_property(GLOBAL APPEND PROPERTY RELAY_GENERATED_${folder} "${output}")
endfunction()
