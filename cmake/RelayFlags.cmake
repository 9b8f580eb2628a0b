# Compiler flags for every target, and where the build puts its results.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, RelWithDebInfo or Debug" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# The static folders are also linked into the shared objects, hence position-independent code.
# Written out and not CMake's property, which compiles programs in a third way (-fPIE), for which headers
# would have to be compiled once more.
add_compile_options(-fPIC)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)

# -O2 and not CMake's -O3: the time goes into loop nests, which have flags of their own below.
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g")

# Containers check what they are asked, library calls the sizes of their buffers; tables of functions are
# bound at the start and read-only from then on, and programs lie at random places (PIE, from -fPIC above
# and the compiler's default). What that costs stands in docs/reliability.md.
if(RELAY_HARDENED)
  add_compile_definitions(_GLIBCXX_ASSERTIONS)
  if(NOT RELAY_SANITIZE)  # which check more, and would be in each other's way
    add_compile_options($<$<CONFIG:Release>:-U_FORTIFY_SOURCE> $<$<CONFIG:Release>:-D_FORTIFY_SOURCE=2>)
  endif()
  add_link_options(-pie -Wl,-z,relro -Wl,-z,now)
endif()

add_compile_options(
  -Wall -Wextra -Werror=switch -Werror=return-type
  # Both tiers must give the same bits: no contraction to FMA unless it is written.
  -ffp-contract=off
  # Lets sqrt and its kin become one instruction; nothing here reads errno.
  -fno-math-errno)

if(RELAY_SANITIZE)
  # vptr is left out: it compares type identities across the shared objects, where they are hidden.
  # So are null and object-size, which look at every access that the address sanitizer looks at too,
  # and -g1 knows the lines of a trace: together half of the time to compile.
  add_compile_options(-fsanitize=${RELAY_SANITIZE} -fno-sanitize=vptr,null,object-size -g1
                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${RELAY_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Under the sanitizers GCC sees uninitialised variables in its own library, where there are none.
    add_compile_options(-Wno-maybe-uninitialized)
    add_library(relay_sanitizer OBJECT "${CMAKE_CURRENT_LIST_DIR}/sanitizer.cpp")
    link_libraries($<TARGET_OBJECTS:relay_sanitizer>)
  endif()
endif()
if(RELAY_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "RELAY_FUZZ needs clang; try `cmake --preset fuzz`")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Programs and the shared objects that they load lie side by side in the root of the build, and
# `dlopen("librelay_jit.so")` finds them there. DT_RPATH and not DT_RUNPATH: under the address
# sanitizer the caller of dlopen is the sanitizer's library, whose search path is not ours.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}")
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
set(CMAKE_BUILD_RPATH "$ORIGIN")
add_link_options(-Wl,--disable-new-dtags)
