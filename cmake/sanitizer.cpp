// What programs under GCC's sanitizers ask of them, however they are started.

extern "C" [[gnu::visibility("default")]] const char* __asan_default_options();

// They misread the thread-local storage of libraries that are loaded late; then the search for
// leaks crashes.
const char* __asan_default_options() { return "intercept_tls_get_addr=0"; }
