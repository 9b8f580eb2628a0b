# relay_folder(NAME [SHARED] [COLD] [DEPS folder...] [SEES folder...] [LIBS library...] [HEADERS file...])
#
#   Makes the target relay_NAME of NAME/*.cpp and NAME/*/*.cpp. NAME/main.cpp, if there is one, stays
#   out of it and becomes the program `relay`.
#     SHARED  an object for dlopen; it links its DEPS statically, and exports nothing but its
#             extern "C" functions named relay_… (cmake/exports.map)
#     COLD    nothing in it runs for each element or each step of a program: compiled with -O1,
#             which takes a third less time
#     DEPS    folders whose headers it may include and whose code it links
#     SEES    folders whose headers it may include, without linking
#     LIBS    libraries outside the project
#     HEADERS of a shared object: compiled once for all its sources
#   A folder without sources makes no target; others may depend on it all the same.
#
# relay_part(NAME PROGRAM program [DEPS folder...] [SEES folder...] [LIBS library...])
#
#   A folder whose main.cpp becomes a program of its own, a part of `relay` (repl/parts.h), and whose
#   other files become a static library relay_NAME, which tests may link.
#
# relay_see(TARGET folder...)
#
#   Lets TARGET include the headers of these folders.
#
# relay_link(TARGET folder...)
#
#   Lets TARGET use these folders: links the static ones, and has the shared objects built before.
#
# How the include rule is held: for every folder there is a directory include-rule/FOLDER in the
# build that holds one thing, a link FOLDER to the sources. A target gets the directories of the
# folders it may see, always privately, so nothing leaks through a dependency. Including
# "parser/parse.h" from opt/ then fails as any missing file does.

function(_relay_include_directory folder result)
  set(directory "${CMAKE_BINARY_DIR}/include-rule/${folder}")
  if(NOT EXISTS "${directory}/${folder}")
    file(MAKE_DIRECTORY "${directory}")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/${folder}" "${directory}/${folder}" SYMBOLIC)
  endif()
  set(${result} "${directory}" PARENT_SCOPE)
endfunction()

function(relay_see target)
  # __FILE__ reads lang/expr.h, whatever way the file was reached. The last map that fits counts.
  target_compile_options(${target} PRIVATE "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
  foreach(folder IN LISTS ARGN)
    if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}")
      _relay_include_directory(${folder} directory)
      target_include_directories(${target} PRIVATE "${directory}")
      target_compile_options(${target} PRIVATE "-fmacro-prefix-map=${directory}/=")
    endif()
  endforeach()
endfunction()

function(relay_link target)
  foreach(folder IN LISTS ARGN)
    if(TARGET relay_${folder})
      get_target_property(type relay_${folder} TYPE)
      if(type STREQUAL "STATIC_LIBRARY")
        target_link_libraries(${target} PRIVATE relay_${folder})
      else()
        add_dependencies(${target} relay_${folder})
      endif()
    endif()
  endforeach()
endfunction()

function(relay_folder name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SHARED;COLD" "" "DEPS;SEES;LIBS;HEADERS")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "relay_folder(${name}): unknown arguments ${arg_UNPARSED_ARGUMENTS}")
  endif()

  set(root "${PROJECT_SOURCE_DIR}/${name}")
  file(GLOB sources CONFIGURE_DEPENDS "${root}/*.cpp" "${root}/*/*.cpp")
  set(main "${root}/main.cpp")
  list(REMOVE_ITEM sources "${main}")
  get_property(generated GLOBAL PROPERTY RELAY_GENERATED_${name})
  list(APPEND sources ${generated})
  if(NOT sources)
    message(STATUS "relay: ${name}/ has no sources yet, skipped")
    return()
  endif()

  set(target relay_${name})
  if(arg_SHARED)
    add_library(${target} MODULE ${sources})
    set(exports "${PROJECT_SOURCE_DIR}/cmake/exports.map")
    set_target_properties(${target} PROPERTIES CXX_VISIBILITY_PRESET default
                                               LINK_DEPENDS "${exports}")
    target_link_options(${target} PRIVATE "-Wl,--version-script=${exports}")
    if(NOT RELAY_SANITIZE AND NOT RELAY_FUZZ)
      target_link_options(${target} PRIVATE -Wl,--no-undefined)
    endif()
  else()
    add_library(${target} STATIC ${sources})
  endif()
  _relay_finish(${target} ${name})

  if(EXISTS "${main}")
    add_executable(relay "${main}")
    target_link_libraries(relay PRIVATE ${target})
    _relay_finish(relay ${name})
    relay_link(relay ${arg_SEES})
  endif()
endfunction()

function(relay_part name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "PROGRAM" "DEPS;SEES;LIBS")
  set(arg_COLD TRUE)
  set(root "${PROJECT_SOURCE_DIR}/${name}")
  file(GLOB sources CONFIGURE_DEPENDS "${root}/*.cpp" "${root}/*/*.cpp")
  list(REMOVE_ITEM sources "${root}/main.cpp")
  get_property(generated GLOBAL PROPERTY RELAY_GENERATED_${name})
  list(APPEND sources ${generated})
  add_library(relay_${name} STATIC ${sources})
  _relay_finish(relay_${name} ${name})
  add_executable(${arg_PROGRAM} "${root}/main.cpp")
  target_link_libraries(${arg_PROGRAM} PRIVATE relay_${name})
  _relay_finish(${arg_PROGRAM} ${name})
  set_property(GLOBAL APPEND PROPERTY RELAY_PARTS ${arg_PROGRAM})
endfunction()

# Gives a target of the folder what relay_folder() was told; reads the caller's arg_ variables.
function(_relay_finish target name)
  relay_see(${target} ${name} ${arg_DEPS} ${arg_SEES})
  relay_link(${target} ${arg_DEPS})
  target_link_libraries(${target} PRIVATE ${arg_LIBS})
  relay_join(${target})
  if(arg_COLD)
    # With less optimisation GCC takes variables for uninitialised that are not.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1> $<$<CONFIG:Release>:-Wno-maybe-uninitialized>)
  endif()
  if(NOT arg_SHARED)
    relay_precompile(${target})
  elseif(arg_HEADERS AND RELAY_PRECOMPILED)  # a shared object's flags are its own, and so are its headers
    list(TRANSFORM arg_HEADERS PREPEND "${PROJECT_SOURCE_DIR}/")
    target_precompile_headers(${target} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/standard.h" ${arg_HEADERS})
  endif()
endfunction()
