# Builds the legends into a target, as the texts of their files.
#
#   include(embed_legends)
#   cozy_embed_legends(<target> <NAME>...)
#
# adds a generated source to the target that defines
#
#   namespace cozy { std::span<const std::string_view> embedded_legends(); }
#
# with legends/NAME.json of every NAME, in that order. It is written anew when one of them changes.
# The same file is the script that writes it, at build time:
#
#   cmake -D OUTPUT=FILE -D LEGENDS=FILE|FILE... -P embed_legends.cmake

function(cozy_embed_legends target)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  get_filename_component(directory ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/../../legends ABSOLUTE)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/${target}_legends.cpp)
  set(inputs)
  foreach(name IN LISTS ARGN)
    if(NOT EXISTS ${directory}/${name}.json)
      message(FATAL_ERROR "There is no legend legends/${name}.json")
    endif()
    list(APPEND inputs ${directory}/${name}.json)
  endforeach()
  if(NOT inputs)
    message(FATAL_ERROR "cozy_embed_legends(${target}) was given no legend")
  endif()
  list(JOIN inputs "|" joined)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D LEGENDS=${joined} -P ${script}
    DEPENDS ${inputs} ${script}
    COMMENT "Embedding the legends"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  return()
endif()

string(REPLACE "|" ";" files "${LEGENDS}")
set(literals "")
foreach(file IN LISTS files)
  file(READ ${file} text)
  string(FIND "${text}" ")cozy_legend\"" end)
  if(NOT end EQUAL -1)
    message(FATAL_ERROR "${file} holds the mark that ends its literal")
  endif()
  string(APPEND literals "    R\"cozy_legend(${text})cozy_legend\",\n")
endforeach()
file(WRITE ${OUTPUT} "// Written by hack/cmake/embed_legends.cmake from the files in legends/.
#include <span>
#include <string_view>

namespace cozy {

std::span<const std::string_view> embedded_legends();

namespace {

constexpr std::string_view k_legends[] = {
${literals}};

}  // namespace

std::span<const std::string_view> embedded_legends() { return k_legends; }

}  // namespace cozy
")
