# What `cmake --install` puts where, and the packages that CPack makes of it.
#
#   bin/relay                          the program
#   lib/relay/librelay_*.so            what it loads when first needed, found from bin/ by its RPATH
#   lib/relay/relay-*                  its parts (repl/parts.h)
#   share/relay/stdlib/                the standard library, for reading
#   share/doc/relay/                   the documentation and the examples
#   share/man/man1/relay.1, and completions for bash, zsh and fish
#
# Needs the targets of the folders, so it is included behind them.

if(NOT TARGET relay)
  return()
endif()
set(RELAY_DATA_DIR "${CMAKE_INSTALL_DATADIR}/relay")
set_target_properties(relay PROPERTIES INSTALL_RPATH "$ORIGIN/${RELAY_OBJECTS_FROM_PROGRAM}")
install(TARGETS relay RUNTIME)
get_property(parts GLOBAL PROPERTY RELAY_PARTS)
set(packages_apart relay-kernel relay-import)  # they need libraries that the program does not
foreach(part IN LISTS parts)
  set_target_properties(${part} PROPERTIES INSTALL_RPATH "$ORIGIN")
  set(component "")
  if(part IN_LIST packages_apart)
    set(component COMPONENT ${part})
  endif()
  install(TARGETS ${part} RUNTIME DESTINATION "${RELAY_OBJECTS_DIR}" ${component})
endforeach()
foreach(object relay_jit relay_kernels)
  if(TARGET ${object})
    install(TARGETS ${object} LIBRARY DESTINATION "${RELAY_OBJECTS_DIR}")
  endif()
endforeach()

# A LLVM of one's own is found where it was. Debian's has two names, of which the loader finds the real
# one by itself, and a package that named the other would need LLVM's development files.
if(TARGET relay_jit)
  file(REAL_PATH "${LLVM_LIBRARY_DIR}/libLLVM.so" llvm)
  get_filename_component(llvm "${llvm}" DIRECTORY)
  if(NOT llvm IN_LIST CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES)
    set_target_properties(relay_jit PROPERTIES INSTALL_RPATH "${llvm}")
  endif()
endif()

file(GLOB library CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/stdlib/*.relay")
install(FILES ${library} DESTINATION "${RELAY_DATA_DIR}/stdlib")

install(FILES "${PROJECT_SOURCE_DIR}/include/relay_codegen.h" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")

install(FILES "${PROJECT_SOURCE_DIR}/README.md" "${PROJECT_SOURCE_DIR}/CHANGELOG.md"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        RENAME copyright)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs" "${PROJECT_SOURCE_DIR}/examples"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}" PATTERN "*.1" EXCLUDE)

install(FILES "${PROJECT_SOURCE_DIR}/docs/relay.1" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1")
set(completions "${PROJECT_SOURCE_DIR}/tools/completions")
install(FILES "${completions}/relay.bash" RENAME relay
        DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions")
# Debian's zsh looks in site-functions under /usr/local only. CPack puts a folder before /usr.
install(CODE "set(folder site-functions)
if(CMAKE_INSTALL_PREFIX MATCHES \"/usr$\")
  set(folder vendor-completions)
endif()
file(INSTALL \"${completions}/_relay\"
     DESTINATION \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}/zsh/\${folder}\")")
install(FILES "${completions}/relay.fish"
        DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d")

# `cpack -G DEB` in the build folder: relay, and a package for each part that needs other libraries. What
# packages need is what is linked.
set(CPACK_PACKAGE_NAME relay)
set(CPACK_PACKAGE_VENDOR "Relay")
set(CPACK_PACKAGE_CONTACT "the developers of Relay <relay@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_STRIP_FILES ON)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Typed, differentiated to any order, interpreted at once and compiled when hot.
It reads the text format of TVM's Relay IR, and a light notation on top of it.")
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL Unspecified)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME relay)
foreach(part IN LISTS packages_apart)
  if(TARGET ${part})
    list(APPEND CPACK_COMPONENTS_ALL ${part})
    string(TOUPPER "${part}" name)
    set(CPACK_DEBIAN_${name}_PACKAGE_NAME ${part})
    set(CPACK_DEBIAN_${name}_PACKAGE_DEPENDS "relay (= ${PROJECT_VERSION})")
  endif()
endforeach()
include(CPack)
