# The Python package `relay`, in BUILD/python: an extension on top of librelay.so, and plain Python. Made where
# pybind11 and the headers of Python are installed.

option(RELAY_PYTHON "Build the Python package (needs pybind11)" ON)
if(NOT RELAY_PYTHON OR RELAY_SANITIZE OR RELAY_FUZZ)
  return()
endif()
# Debian's Python, if nobody names another: what apt installs is there.
if(NOT Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
  set(Python3_EXECUTABLE /usr/bin/python3)
endif()
find_package(Python3 3.8 QUIET COMPONENTS Interpreter Development.Module)
find_package(pybind11 CONFIG QUIET)
if(NOT Python3_Development.Module_FOUND OR NOT pybind11_FOUND)
  message(STATUS "relay: no Python package, which needs pybind11 and Python's headers (Debian: pybind11-dev python3-dev)")
  return()
endif()

set(folder "${CMAKE_BINARY_DIR}/python/relay")
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/extension/*.cpp")
python3_add_library(relay_python MODULE WITH_SOABI ${sources})
relay_see(relay_python python)
target_link_libraries(relay_python PRIVATE pybind11::headers relay_api)
set_target_properties(relay_python PROPERTIES
  OUTPUT_NAME _relay
  LIBRARY_OUTPUT_DIRECTORY "${folder}")
file(MAKE_DIRECTORY "${folder}")
file(GLOB modules CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/relay/*.py")
foreach(module IN LISTS modules)
  get_filename_component(name "${module}" NAME)
  file(CREATE_LINK "${module}" "${folder}/${name}" SYMBOLIC)
endforeach()

# Where Debian's Python looks: CPack, alone, puts a folder before /usr. From both the library is equally far.
file(RELATIVE_PATH library "/lib/python3/dist-packages/relay" "/${CMAKE_INSTALL_LIBDIR}")
set_target_properties(relay_python PROPERTIES BUILD_WITH_INSTALL_RPATH ON
                                              INSTALL_RPATH "$ORIGIN/../..;$ORIGIN/${library}")
list(JOIN modules "\" \"" list)
install(CODE "set(folder python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR})
if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\")
  set(folder python3)
endif()
file(INSTALL \"$<TARGET_FILE:relay_python>\" \"${list}\"
     DESTINATION \"\${CMAKE_INSTALL_PREFIX}/lib/\${folder}/dist-packages/relay\")")
