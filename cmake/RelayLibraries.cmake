# Libraries and flags that belong to one folder only.

if(TARGET relay_parser)
  find_package(pegtl 3 REQUIRED)
  find_package(nlohmann_json 3 REQUIRED)
  target_link_libraries(relay_parser PRIVATE taocpp::pegtl nlohmann_json::nlohmann_json)
endif()

if(TARGET relay_external)
  find_package(nlohmann_json 3 REQUIRED)
  target_link_libraries(relay_external PRIVATE nlohmann_json::nlohmann_json)
endif()

# Linked statically where possible: none of them is needed before the first file is read, and each
# shared object costs startup time.
if(TARGET relay_formats)
  find_package(nlohmann_json 3 REQUIRED)
  find_path(RELAY_ZLIB_INCLUDE zlib.h REQUIRED)
  find_path(RELAY_PNG_INCLUDE png.h REQUIRED)
  find_library(RELAY_PNG NAMES libpng16.a png16 png REQUIRED)
  find_library(RELAY_ZLIB NAMES libz.a z REQUIRED)
  # A shared object takes theirs: Debian's archives are not position-independent.
  find_library(RELAY_SHARED_PNG NAMES png16 png REQUIRED)
  find_library(RELAY_SHARED_ZLIB NAMES z REQUIRED)
  set(is_shared "$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>")
  target_include_directories(relay_formats SYSTEM PRIVATE "${RELAY_ZLIB_INCLUDE}"
                                                          "${RELAY_PNG_INCLUDE}")
  target_link_libraries(relay_formats PRIVATE "$<IF:${is_shared},${RELAY_SHARED_PNG},${RELAY_PNG}>"
                                              "$<IF:${is_shared},${RELAY_SHARED_ZLIB},${RELAY_ZLIB}>"
                                              nlohmann_json::nlohmann_json)
endif()

if(TARGET relay_repl)
  find_package(CLI11 2 REQUIRED)
  foreach(target relay_repl relay)
    if(TARGET ${target})
      target_link_libraries(${target} PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json)
      target_compile_definitions(${target} PRIVATE RELAY_VERSION="${PROJECT_VERSION}")
    endif()
  endforeach()
endif()

if(TARGET relay_server)
  find_package(nlohmann_json 3 REQUIRED)
  foreach(target relay_server relay-lsp)
    target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
    target_compile_definitions(${target} PRIVATE RELAY_VERSION="${PROJECT_VERSION}")
  endforeach()
endif()

# The interpreter's lanes are loops over arrays: worth every optimisation that keeps the bits. GCC must not make
# copies of the math functions before it inlines them, or the loops call the copies and stay scalar.
if(TARGET relay_interp)
  file(GLOB lanes "${PROJECT_SOURCE_DIR}/interp/lanes*.cpp")
  set(lane_options "$<IF:$<CONFIG:Release>,-O3,-O2>" -fno-trapping-math)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND lane_options -fno-ipa-sra -fno-ipa-cp)
  endif()
  set_source_files_properties(${lanes} PROPERTIES COMPILE_OPTIONS "${lane_options}"
                                                  SKIP_PRECOMPILE_HEADERS ON
                                                  SKIP_UNITY_BUILD_INCLUSION ON)
  # On its own: a library for other programs leaves `operator new` to them (api/). A sanitizer's library, which is
  # linked first, has one, too: programs ask for ours by a name that only it has.
  set_source_files_properties("${PROJECT_SOURCE_DIR}/interp/heap.cpp" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  if(RELAY_SANITIZE)
    target_link_options(relay_interp INTERFACE
                        "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-Wl,-u,relay_counts_memory>")
  endif()
endif()

if(TARGET relay_jit)
  find_package(LLVM 19.1 CONFIG)
  if(NOT LLVM_FOUND)
    message(FATAL_ERROR "LLVM 19 was not found (Debian: llvm-19-dev). "
                        "`-DRELAY_JIT=OFF` builds a complete Relay that interprets only.")
  endif()
  separate_arguments(llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  target_include_directories(relay_jit SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
  target_compile_definitions(relay_jit PRIVATE ${llvm_definitions})
  target_link_libraries(relay_jit PRIVATE LLVM)
  # The prompt names it before anything is loaded.
  set_source_files_properties("${PROJECT_SOURCE_DIR}/repl/version.cpp" PROPERTIES
    COMPILE_DEFINITIONS "RELAY_LLVM_VERSION=\"${LLVM_PACKAGE_VERSION}\"" SKIP_UNITY_BUILD_INCLUSION ON)
endif()

if(TARGET relay_kernels)
  # Not by oneDNN's own package, which asks for the development files of OpenCL.
  find_path(RELAY_DNNL_INCLUDE oneapi/dnnl/dnnl.hpp)
  find_library(RELAY_DNNL dnnl)
  find_package(OpenMP COMPONENTS CXX)  # oneDNN's threads, which are told to stay away
  if(NOT RELAY_DNNL_INCLUDE OR NOT RELAY_DNNL OR NOT OpenMP_CXX_FOUND)
    message(FATAL_ERROR "oneDNN was not found (Debian: libdnnl-dev). "
                        "`-DRELAY_KERNELS=OFF` builds Relay without library kernels.")
  endif()
  target_include_directories(relay_kernels SYSTEM PRIVATE "${RELAY_DNNL_INCLUDE}")
  target_link_libraries(relay_kernels PRIVATE "${RELAY_DNNL}" OpenMP::OpenMP_CXX)
endif()

if(TARGET relay_repl)
  # From the folder of the program to that of what it loads, where they are installed (RelayInstall).
  set_source_files_properties("${PROJECT_SOURCE_DIR}/repl/parts.cpp" PROPERTIES
    COMPILE_DEFINITIONS "RELAY_PARTS_FROM_PROGRAM=\"${RELAY_OBJECTS_FROM_PROGRAM}\"" SKIP_UNITY_BUILD_INCLUSION ON)
endif()

if(TARGET relay_notebook)
  find_package(CLI11 2 REQUIRED)
  find_package(nlohmann_json 3 REQUIRED)
  foreach(target relay_notebook relay-kernel)
    target_link_libraries(${target} PRIVATE CLI11::CLI11 nlohmann_json::nlohmann_json)
    target_compile_definitions(${target} PRIVATE RELAY_VERSION="${PROJECT_VERSION}")
  endforeach()
endif()

# Models of ONNX are read and written where its definitions are there; the rest of `relay import` needs no other library.
if(TARGET relay_models)
  find_package(nlohmann_json 3 REQUIRED)
  target_link_libraries(relay_models PRIVATE nlohmann_json::nlohmann_json)
  find_package(ONNX CONFIG QUIET)
  find_package(Protobuf QUIET)
  set(RELAY_ONNX OFF)
  if(ONNX_FOUND AND Protobuf_FOUND AND TARGET onnx_proto)
    set(RELAY_ONNX ON)
    get_target_property(onnx_include onnx_proto INTERFACE_INCLUDE_DIRECTORIES)
    target_include_directories(relay_models SYSTEM PRIVATE "${onnx_include}" ${Protobuf_INCLUDE_DIRS})
    target_link_libraries(relay_models PUBLIC onnx_proto protobuf::libprotobuf)
    set_source_files_properties("${PROJECT_SOURCE_DIR}/models/onnx/read_model.cpp"
                                "${PROJECT_SOURCE_DIR}/models/onnx/write_model.cpp" PROPERTIES
      COMPILE_DEFINITIONS RELAY_HAS_ONNX SKIP_UNITY_BUILD_INCLUSION ON)
  endif()
endif()

if(TARGET relay)
  message(STATUS "relay: native code ${RELAY_JIT}, library kernels ${RELAY_KERNELS}")
endif()
