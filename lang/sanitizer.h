#pragma once

// RELAY_ASAN: the address sanitizer looks on, GCC's or clang's.
#if defined(__SANITIZE_ADDRESS__)
#define RELAY_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define RELAY_ASAN 1
#endif
#endif
