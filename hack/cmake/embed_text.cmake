# Builds the text of a file into a target.
#
#   include(embed_text)
#   cozy_embed_text(<target> <function> <file>)
#
# adds a generated source to the target that defines
#
#   namespace cozy { std::string_view <function>(); }
#
# with the text of the file; of a shell script, without its comments and its indentation, since it is to be
# an argument. It is written anew when the file changes. The same file is the script that writes it:
#
#   cmake -D OUTPUT=FILE -D FUNCTION=NAME -D INPUT=FILE -P embed_text.cmake

function(cozy_embed_text target function file)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
  get_filename_component(input ${file} ABSOLUTE)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/${function}.cpp)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D FUNCTION=${function} -D INPUT=${input} -P ${script}
    DEPENDS ${input} ${script}
    COMMENT "Embedding ${file}"
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  return()
endif()

file(READ ${INPUT} text)
if(INPUT MATCHES "\\.sh$")
  string(REGEX REPLACE "\n *#[^\n]*" "" text "\n${text}")
  string(REGEX REPLACE "\n[ \n]+" "\n" text "${text}")
endif()
string(FIND "${text}" ")cozy_text\"" end)
if(NOT end EQUAL -1)
  message(FATAL_ERROR "${INPUT} holds the mark that ends its literal")
endif()
file(WRITE ${OUTPUT} "// Written by hack/cmake/embed_text.cmake from a file of the tree.
#include <string_view>

namespace cozy {

std::string_view ${FUNCTION}();

std::string_view ${FUNCTION}() { return R\"cozy_text(${text})cozy_text\"; }

}  // namespace cozy
")
