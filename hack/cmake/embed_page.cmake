# Builds the page of `analyze --format html` into a target: collector/render/page, bundled by npm's packages.
#
#   include(embed_page)          # and the option COZYBRACKET_PAGE
#   cozy_embed_page(<target>)
#
# adds a generated source to the target that defines cozy::embedded_page(), see collector/render/page_template.hpp.
# It is made anew when the page's sources change. Where COZYBRACKET_PAGE is AUTO and there is no npm, or npm gets
# nothing, the source says so, everything else is built, and the next configuration tries again.
# The same file is the script that makes it, at build time, in a copy of the sources below WORK:
#
#   cmake -D OUTPUT=FILE -D MODE=AUTO|ON|OFF -D NPM=FILE -D NODE=FILE -D SOURCE=DIR -D WORK=DIR -P embed_page.cmake

set(cozy_page_failed "// The page could not be built.")

function(cozy_write_page output head packed missing)
  file(WRITE ${output} "${head}
#include \"collector/render/page_template.hpp\"

namespace cozy {

namespace {

constexpr unsigned char k_packed[] = {${packed}0};

}  // namespace

EmbeddedPage embedded_page() {
  return {{reinterpret_cast<const char*>(k_packed), sizeof k_packed - 1}, \"${missing}\"};
}

}  // namespace cozy
")
endfunction()

# What a build without a page has, for the tests. Written only where it is another one.
function(cozy_write_no_page output why)
  cozy_write_page(${output}.new "// Without a page." "" "${why}")
  file(COPY_FILE ${output}.new ${output} ONLY_IF_DIFFERENT)
endfunction()

if(NOT CMAKE_SCRIPT_MODE_FILE STREQUAL CMAKE_CURRENT_LIST_FILE)
  set(COZYBRACKET_PAGE AUTO CACHE STRING "The page of --format html: ON, OFF, or AUTO (where npm works)")
  set_property(CACHE COZYBRACKET_PAGE PROPERTY STRINGS AUTO ON OFF)
  if(NOT COZYBRACKET_PAGE MATCHES "^(AUTO|ON|OFF)$")
    message(FATAL_ERROR "COZYBRACKET_PAGE is \"${COZYBRACKET_PAGE}\"; it is AUTO, ON or OFF")
  endif()

  function(cozy_embed_page target)
    set(script ${CMAKE_CURRENT_FUNCTION_LIST_FILE})
    set(source ${CMAKE_SOURCE_DIR}/collector/render/page)
    set(output ${CMAKE_CURRENT_BINARY_DIR}/generated/embedded_page.cpp)
    find_program(COZY_NPM npm)
    find_program(COZY_NODE NAMES node nodejs)
    if(EXISTS ${output})
      file(STRINGS ${output} first LIMIT_COUNT 1)
      if(first STREQUAL cozy_page_failed)
        file(REMOVE ${output})
      endif()
    endif()
    file(GLOB_RECURSE inputs CONFIGURE_DEPENDS ${source}/*)
    list(FILTER inputs EXCLUDE REGEX "/(node_modules|dist)/")
    add_custom_command(
      OUTPUT ${output}
      COMMAND ${CMAKE_COMMAND} -D OUTPUT=${output} -D MODE=${COZYBRACKET_PAGE} -D NPM=${COZY_NPM} -D NODE=${COZY_NODE}
              -D SOURCE=${source} -D WORK=${CMAKE_CURRENT_BINARY_DIR}/page -P ${script}
      DEPENDS ${inputs} ${script}
      COMMENT "Building the page"
      VERBATIM)
    target_sources(${target} PRIVATE ${output})
  endfunction()
  return()
endif()

# --- the script -------------------------------------------------------------------

if(NOT DEFINED NPM_BOUND)
  set(NPM_BOUND 300) # seconds; what a slow network needs for 10 MB
endif()
set(bundle_bound 60)

# Ends the script: without a page, or with an error where one is asked for.
macro(give_up words)
  if(MODE STREQUAL "ON")
    message(FATAL_ERROR "The page cannot be built: ${words}")
  endif()
  message("WARNING: The page is not built: ${words}. Everything else is; --format html will say so. "
          "The next configuration tries again; -DCOZYBRACKET_PAGE=OFF does without.")
  cozy_write_page(${OUTPUT} "${cozy_page_failed}" "" "${words}")
  return()
endmacro()

# Runs a command in the copy, with its words shown where it fails. Sets `status`.
macro(run_bounded bound)
  execute_process(COMMAND ${CMAKE_COMMAND} -E env NO_UPDATE_NOTIFIER=1 ${ARGN} WORKING_DIRECTORY ${WORK} TIMEOUT ${bound}
                  RESULT_VARIABLE status OUTPUT_VARIABLE words ERROR_VARIABLE words)
  if(NOT status EQUAL 0)
    message("${words}")
  endif()
endmacro()

if(MODE STREQUAL "OFF")
  cozy_write_page(${OUTPUT} "// The page was left out." "" "COZYBRACKET_PAGE was OFF")
  return()
endif()
foreach(program NPM NODE)
  if(NOT ${program})
    string(TOLOWER ${program} name)
    give_up("there is no ${name}")
  endif()
endforeach()

# A copy, so that nothing is written beside the sources; its node_modules stay while they are of this lock file.
file(GLOB copied LIST_DIRECTORIES true RELATIVE ${WORK} ${WORK}/* ${WORK}/.npmrc)
list(FILTER copied EXCLUDE REGEX "^(node_modules|installed)$")
foreach(name IN LISTS copied)
  file(REMOVE_RECURSE ${WORK}/${name})
endforeach()
file(COPY ${SOURCE}/ DESTINATION ${WORK} PATTERN node_modules EXCLUDE PATTERN dist EXCLUDE)

file(SHA256 ${WORK}/package-lock.json lock)
set(installed "")
if(EXISTS ${WORK}/installed AND IS_DIRECTORY ${WORK}/node_modules)
  file(READ ${WORK}/installed installed)
endif()
if(NOT installed STREQUAL lock)
  file(REMOVE ${WORK}/installed)
  run_bounded(${NPM_BOUND} ${NPM} ci --omit=dev --prefer-offline --ignore-scripts --no-audit --no-fund
              --fetch-retries=1 --fetch-retry-mintimeout=1000 --fetch-timeout=60000)
  if(NOT status EQUAL 0)
    give_up("npm ci ended with ${status}")
  endif()
  file(WRITE ${WORK}/installed ${lock})
endif()

run_bounded(${bundle_bound} ${NODE} bundle.mjs --out ${WORK}/out/page.html)
if(NOT status EQUAL 0)
  give_up("bundle.mjs ended with ${status}")
endif()
execute_process(COMMAND gzip -9 -n -c ${WORK}/out/page.html OUTPUT_FILE ${WORK}/out/page.html.gz RESULT_VARIABLE status)
if(NOT status EQUAL 0)
  give_up("gzip ended with ${status}")
endif()
file(READ ${WORK}/out/page.html.gz packed HEX)
string(REGEX REPLACE "(..)" "0x\\1," packed "${packed}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" packed "${packed}")
cozy_write_page(${OUTPUT} "// Written by hack/cmake/embed_page.cmake from collector/render/page." "${packed}" "")
