# librelay.so: the whole of Relay in one shared object, behind the C interface of include/relay.h.
#
# It exports the functions of the interface alone, and leaves `operator new` to the program that
# loads it: the one that counts (interp/heap.cpp) is not linked, because the C++ library, which has
# another, comes before the archives.

file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/api/*.cpp")
add_library(relay_api SHARED ${sources})
set_target_properties(relay_api PROPERTIES
  OUTPUT_NAME relay
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}
  LINK_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/exports.map")
relay_see(relay_api api include ${everything})
target_compile_definitions(relay_api PRIVATE RELAY_VERSION="${PROJECT_VERSION}")
target_link_options(relay_api PRIVATE "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map"
                                      -Wl,-z,nodelete)
if(NOT RELAY_SANITIZE AND NOT RELAY_FUZZ)
  target_link_options(relay_api PRIVATE -Wl,--no-undefined)
  target_link_libraries(relay_api PRIVATE stdc++)
endif()
relay_link(relay_api ${everything})
target_link_libraries(relay_api PRIVATE fmt::fmt Threads::Threads ${CMAKE_DL_LIBS})
relay_precompile(relay_api)
foreach(object relay_jit relay_kernels)
  if(TARGET ${object})
    add_dependencies(relay_api ${object})
  endif()
endforeach()

# For other projects: relay.h, the library, and a package by which CMake finds both.
include(CMakePackageConfigHelpers)
target_include_directories(relay_api INTERFACE "$<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>"
                                               "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>")
set_target_properties(relay_api PROPERTIES EXPORT_NAME relay
                                           INSTALL_RPATH "$ORIGIN/relay")
set(package "${CMAKE_INSTALL_LIBDIR}/cmake/relay")
install(TARGETS relay_api EXPORT relayTargets LIBRARY)
install(EXPORT relayTargets NAMESPACE relay:: DESTINATION "${package}")
configure_file("${PROJECT_SOURCE_DIR}/cmake/relayConfig.cmake.in"
               "${CMAKE_BINARY_DIR}/generated/relayConfig.cmake" COPYONLY)
write_basic_package_version_file("${CMAKE_BINARY_DIR}/generated/relayConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/generated/relayConfig.cmake"
              "${CMAKE_BINARY_DIR}/generated/relayConfigVersion.cmake" DESTINATION "${package}")
install(FILES "${PROJECT_SOURCE_DIR}/include/relay.h" "${PROJECT_SOURCE_DIR}/include/relay_dlpack.h"
        DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
