// Catch2 v2 has no library with a main function.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
