# The outside libraries, each behind a name of ours. Found by CMake; hack/setup installs them.
find_package(Threads REQUIRED)

# Boost.Process v2 since 1.81; Debian's and Ubuntu's packages carry it as headers, to be compiled once
# (collector/run/boost_process.cpp), and it needs the filesystem library of the same version.
if(COZYBRACKET_STATIC)
  set(Boost_USE_STATIC_LIBS ON)
endif()
find_package(Boost 1.81 REQUIRED COMPONENTS filesystem)
add_library(cozy_process INTERFACE)
add_library(cozy::process ALIAS cozy_process)
target_link_libraries(cozy_process INTERFACE Boost::headers Boost::filesystem)
target_compile_definitions(cozy_process INTERFACE BOOST_PROCESS_V2_SEPARATE_COMPILATION)
# Library headers are not ours to warn about.
get_target_property(cozy_boost_includes Boost::headers INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(cozy_process SYSTEM INTERFACE ${cozy_boost_includes})

find_package(nlohmann_json 3.10 REQUIRED)
add_library(cozy_json INTERFACE)
add_library(cozy::json ALIAS cozy_json)
target_link_libraries(cozy_json INTERFACE nlohmann_json::nlohmann_json)

find_package(CLI11 2.1 REQUIRED)
add_library(cozy_cli INTERFACE)
add_library(cozy::cli ALIAS cozy_cli)
target_link_libraries(cozy_cli INTERFACE CLI11::CLI11)

add_library(cozy_archive INTERFACE)
add_library(cozy::archive ALIAS cozy_archive)
if(COZYBRACKET_STATIC)
  # The archive alone takes in what its own parts for tar and gzip use, and nothing of libxml2 or ICU.
  find_library(COZY_LIBARCHIVE libarchive.a REQUIRED)
  find_library(COZY_ZLIB libz.a REQUIRED)
  find_path(COZY_LIBARCHIVE_INCLUDE archive.h REQUIRED)
  target_link_libraries(cozy_archive INTERFACE ${COZY_LIBARCHIVE} ${COZY_ZLIB})
  target_include_directories(cozy_archive SYSTEM INTERFACE ${COZY_LIBARCHIVE_INCLUDE})
  foreach(part nettle acl lzma zstd lz4 bz2)
    find_library(COZY_${part} lib${part}.a)
    if(COZY_${part})
      target_link_libraries(cozy_archive INTERFACE ${COZY_${part}})
    endif()
  endforeach()
else()
  find_package(LibArchive 3.4 REQUIRED)
  find_package(ZLIB REQUIRED) # libarchive's gzip drops what came before a cut, and verifies no checksum
  target_link_libraries(cozy_archive INTERFACE LibArchive::LibArchive ZLIB::ZLIB)
endif()
