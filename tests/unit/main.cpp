// The one main of unit_tests and property_tests.

#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
