# librelay_built.a: what stands in every object that `relay build` writes, in one archive: the evaluator, the
# operators, and the code that reads a program's snapshot. No parser, no type checker, no compiler.

set(members relay_lang relay_loops relay_flow relay_interp relay_plot relay_stdlib relay_built)
find_library(RELAY_STATIC_FMT NAMES libfmt.a)
mark_as_advanced(RELAY_STATIC_FMT)
set(script "CREATE librelay_built.a\n")
foreach(member IN LISTS members)
  string(APPEND script "ADDLIB $<TARGET_FILE:${member}>\n")
endforeach()
if(RELAY_STATIC_FMT)
  string(APPEND script "ADDLIB ${RELAY_STATIC_FMT}\n")
else()
  add_library(relay_fmt STATIC "${CMAKE_CURRENT_LIST_DIR}/fmt_functions.cpp")
  list(APPEND members relay_fmt)
  string(APPEND script "ADDLIB $<TARGET_FILE:relay_fmt>\n")
endif()
set(RELAY_BUILT_LINK_FLAGS "-s -Wl,--no-undefined")
if(RELAY_SANITIZE)
  set(RELAY_BUILT_LINK_FLAGS "-fsanitize=${RELAY_SANITIZE}")
endif()
string(APPEND script "SAVE\nEND\n")
file(GENERATE OUTPUT "${CMAKE_BINARY_DIR}/generated/built.mri" CONTENT "${script}")
add_custom_command(OUTPUT "${CMAKE_BINARY_DIR}/librelay_built.a"
                   COMMAND "${CMAKE_AR}" -M < "${CMAKE_BINARY_DIR}/generated/built.mri"
                   DEPENDS ${members} "${CMAKE_BINARY_DIR}/generated/built.mri"
                   WORKING_DIRECTORY "${CMAKE_BINARY_DIR}"
                   COMMENT "Joining librelay_built.a")
add_custom_target(relay_built_archive ALL DEPENDS "${CMAKE_BINARY_DIR}/librelay_built.a")
add_dependencies(relay-build relay_built_archive)
target_compile_definitions(relay_ahead PRIVATE RELAY_BUILT_LINK_FLAGS="${RELAY_BUILT_LINK_FLAGS}")
install(FILES "${CMAKE_BINARY_DIR}/librelay_built.a" DESTINATION "${RELAY_OBJECTS_DIR}")
