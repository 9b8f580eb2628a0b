# Where an installed Relay has what it loads and its parts; RelayInstall puts them there.

include(GNUInstallDirs)
set(RELAY_OBJECTS_DIR "${CMAKE_INSTALL_LIBDIR}/relay")
file(RELATIVE_PATH RELAY_OBJECTS_FROM_PROGRAM "/${CMAKE_INSTALL_BINDIR}" "/${RELAY_OBJECTS_DIR}")
