# The flags of COZYBRACKET_FUZZ: the whole library is instrumented for libFuzzer, under the sanitizers.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "COZYBRACKET_FUZZ needs clang, which has libFuzzer, and this compiler is ${CMAKE_CXX_COMPILER}. "
                      "Run hack/fuzz, or install it with hack/setup --fuzz and configure a directory of its own "
                      "with -DCMAKE_CXX_COMPILER=clang++.")
endif()
target_compile_options(cozy_settings INTERFACE -fsanitize=fuzzer-no-link,address,undefined
                                               -fno-sanitize-recover=all -fno-omit-frame-pointer)
target_link_options(cozy_settings INTERFACE -fsanitize=address,undefined)
