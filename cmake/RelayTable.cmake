# relay_table(FOLDER SUBFOLDER KIND TYPE): writes FOLDER::SUBFOLDER_of_files(), which FOLDER/KIND_files.h
# declares, from the names of the files FOLDER/SUBFOLDER/*.cpp, each of which has a function NAME_KIND() that
# gives a TYPE; and lets it join the sources of the target relay_FOLDER. Must stand before
# relay_folder(FOLDER).

function(relay_table folder subfolder kind type)
  file(GLOB files CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/${subfolder}/*.cpp")
  set(declared "")
  set(called "")
  foreach(file IN LISTS files)
    get_filename_component(name "${file}" NAME_WE)
    string(APPEND declared "${type} ${name}_${kind}();\n")
    string(APPEND called "          ${name}_${kind}(),\n")
  endforeach()
  set(output "${CMAKE_BINARY_DIR}/generated/${folder}/${subfolder}_of_files.cpp")
  file(CONFIGURE OUTPUT "${output}" @ONLY CONTENT
       "#include \"${folder}/${kind}_files.h\"\n\nnamespace relay::${folder} {\n\n${declared}
std::vector<${type}> ${subfolder}_of_files() {\n  return {\n${called}  };\n}\n\n}  // namespace relay::${folder}\n")
  set_property(GLOBAL APPEND PROPERTY RELAY_GENERATED_${folder} "${output}")
endfunction()
