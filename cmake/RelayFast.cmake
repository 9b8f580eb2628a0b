# What makes a build from nothing fast: the standard library's headers are compiled once, and sources
# are compiled several at a time.
#
# relay_precompile(TARGET [OWNER LIBRARY HEADER...])
#
#   Compiles TARGET with the headers of cmake/standard.h read beforehand; or with these and the HEADERs of
#   LIBRARY, which the target OWNER, made when it is first named, keeps for all that name it.
#
# relay_join(TARGET)
#
#   Compiles the sources of TARGET in groups.
#
# Most of the time to compile a source of ours goes to headers and templates of the standard library
# that the others compile too. The sources of a folder are one program, so names in their anonymous
# namespaces differ; RELAY_JOINED=OFF shows whether a source also stands on its own.
#
# Sources named in BUILD/apart.txt, one to a line, stand apart from their group. `./dev build` names
# those that are being worked on, so that a change to one compiles that one alone.

option(RELAY_PRECOMPILED "Read the standard library's headers once" ON)
option(RELAY_JOINED "Compile the sources of a folder in groups" ON)
set(RELAY_GROUP 12 CACHE STRING "How many sources make a group")

if(RELAY_FUZZ)  # clang compiles headers for each set of flags, and the fuzzers' flags differ
  set(RELAY_PRECOMPILED OFF)
endif()

set(apart "")
set(list "${CMAKE_BINARY_DIR}/apart.txt")
if(EXISTS "${list}")
  file(STRINGS "${list}" apart)
else()
  file(TOUCH "${list}")
endif()
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${list}")

function(relay_precompile target)
  if(NOT RELAY_PRECOMPILED)
    return()
  endif()
  list(POP_FRONT ARGN owner library)
  if(NOT owner)
    set(owner relay_headers)
  endif()
  if(NOT TARGET ${owner})
    set(source "${CMAKE_BINARY_DIR}/generated/${owner}.cpp")
    file(CONFIGURE OUTPUT "${source}" CONTENT "// Has headers compiled for others to use.\n")
    add_library(${owner} OBJECT EXCLUDE_FROM_ALL "${source}")
    target_link_libraries(${owner} PRIVATE fmt::fmt ${library})
    target_precompile_headers(${owner} PRIVATE "${PROJECT_SOURCE_DIR}/cmake/standard.h" ${ARGN})
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
endfunction()

function(relay_join target)
  if(NOT RELAY_JOINED)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${RELAY_GROUP})
  foreach(source IN LISTS apart)
    set_source_files_properties("${PROJECT_SOURCE_DIR}/${source}" TARGET_DIRECTORY ${target}
                                PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endforeach()
endfunction()
