# How every target of the project is compiled, in one place.
add_library(cozy_settings INTERFACE)
target_compile_features(cozy_settings INTERFACE cxx_std_20)
target_include_directories(cozy_settings INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_options(cozy_settings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion
                                               -Wnon-virtual-dtor -Wold-style-cast
                                               $<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized> # g++ 12 is wrong on std::optional
                                               -ffunction-sections -fdata-sections)
target_link_options(cozy_settings INTERFACE -Wl,--gc-sections -Wl,--as-needed)
if(COZYBRACKET_DEVELOPER)
  target_compile_options(cozy_settings INTERFACE -Werror)
endif()
if(COZYBRACKET_SANITIZE)
  target_compile_options(cozy_settings INTERFACE -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(cozy_settings INTERFACE -fsanitize=address,undefined)
endif()
if(COZYBRACKET_FUZZ)
  include(fuzz)
endif()
