# A header with the description that git gives of this tree, made anew at every build, and written only
# when it changed.
set(cozy_version_dir ${CMAKE_BINARY_DIR}/generated)
add_custom_target(cozy_version_header
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${CMAKE_SOURCE_DIR} -DOUTPUT=${cozy_version_dir}/cozy_version.hpp
          -P ${CMAKE_SOURCE_DIR}/hack/cmake/write_version.cmake
  BYPRODUCTS ${cozy_version_dir}/cozy_version.hpp)
add_library(cozy_version INTERFACE)
add_dependencies(cozy_version cozy_version_header)
target_include_directories(cozy_version INTERFACE ${cozy_version_dir})
