# Writes a C++ source with the style, the body and the script of a page: cmake -DOUT=FILE -DFOLDER=DIR -DHEADER=FILE -DNAME=kPage
# -DNAMESPACE=NAME -P embed_page.cmake. FOLDER holds page.css, order.txt with the names of the scripts (those that others
# import first) and, if the page has elements of its own, body.html.
#
# The scripts are ES modules that name each other in lines "import {…} from './other.js';". Joined they are one module:
# these lines go, and so does "export" in front of what they share.

function(read_text path result)
  file(READ "${path}" text)
  set(${result} "${text}" PARENT_SCOPE)
endfunction()

# SHA-256 as a content security policy names it: in base64.
function(policy_hash text result)
  string(SHA256 hex "${text}")
  set(digits ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(coded "")
  foreach(place RANGE 0 60 6)  # 3 bytes are 4 letters; of the last 3 two are there
    string(SUBSTRING "${hex}00" ${place} 6 three)
    math(EXPR bits "0x${three}")
    foreach(shift 18 12 6 0)
      math(EXPR digit "(${bits} >> ${shift}) & 63")
      string(SUBSTRING "${digits}" ${digit} 1 letter)
      string(APPEND coded "${letter}")
    endforeach()
  endforeach()
  string(SUBSTRING "${coded}" 0 43 coded)
  set(${result} "sha256-${coded}=" PARENT_SCOPE)
endfunction()

# Compilers limit the length of a literal, some to 16 KB; those side by side are one.
function(as_literals text result)
  set(literals "")
  string(LENGTH "${text}" length)
  set(place 0)
  while(place LESS length)
    string(SUBSTRING "${text}" ${place} 8000 piece)
    string(APPEND literals "R\"~~~(${piece})~~~\"\n")
    math(EXPR place "${place} + 8000")
  endwhile()
  if(literals STREQUAL "")
    set(literals "\"\"")
  endif()
  set(${result} "${literals}" PARENT_SCOPE)
endfunction()

read_text("${FOLDER}/page.css" style)
set(body "")
if(EXISTS "${FOLDER}/body.html")
  read_text("${FOLDER}/body.html" body)
endif()

file(STRINGS "${FOLDER}/order.txt" names)
set(script "")
foreach(name IN LISTS names)
  read_text("${FOLDER}/${name}" text)
  string(REGEX REPLACE "(^|\n)import [^\n]*" "\\1" text "${text}")
  string(REGEX REPLACE "(^|\n)export " "\\1" text "${text}")
  if(text MATCHES "(^|\n)(import|export)[ {]")
    message(FATAL_ERROR "${FOLDER}/${name}: an import or export that is not one line of the known form")
  endif()
  string(APPEND script "\n${text}")
endforeach()
if(script MATCHES "</script|<!--")
  message(FATAL_ERROR "${FOLDER}: a script holds \"</script\" or \"<!--\", which would end it in a page")
endif()

policy_hash("${script}" script_hash)
policy_hash("${style}" style_hash)
as_literals("${script}" script)
as_literals("${style}" style)
as_literals("${body}" body)
file(WRITE "${OUT}.new" "// Made by cmake/embed_page.cmake.
#include \"${HEADER}\"

namespace ${NAMESPACE} {

const PageParts ${NAME} = {
    .body =
${body},
    .style =
${style},
    .script =
${script},
    .style_hash = \"${style_hash}\",
    .script_hash = \"${script_hash}\",
};

}  // namespace ${NAMESPACE}
")
file(COPY_FILE "${OUT}.new" "${OUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUT}.new")
