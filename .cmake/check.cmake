# Runs the tests of the build in the current folder, then prints in one sentence how many were
# skipped, why, and which packages make them run. The target `check` calls it:
#
#   cmake -D CTEST=ctest -P check.cmake
#
# A test that lacks a tool prints "needs NAME (package PACKAGE)" (tests/support/tools.h), after
# GoogleTest's ": Skipped"; a script that skips itself prints "skipped: " before it.
execute_process(COMMAND ${CTEST} --output-on-failure -j 2 RESULT_VARIABLE status)

set(log Testing/Temporary/LastTest.log)
file(STRINGS ${log} skipped REGEX ": Skipped$")
file(STRINGS ${log} lacking REGEX "^needs .+ [(]package [^)]+[)]$")
file(STRINGS ${log} by_themselves REGEX "^skipped: needs .+ [(]package [^)]+[)]$")
list(LENGTH skipped count)
list(LENGTH lacking others)
list(LENGTH by_themselves scripts)
math(EXPR others "${count} - ${others}")
math(EXPR count "${count} + ${scripts}")

set(tools "")
set(packages "")
foreach(line IN LISTS lacking by_themselves)
  string(REGEX MATCH "needs (.+) [(]package ([^)]+)[)]" line "${line}")
  string(MAKE_C_IDENTIFIER "${CMAKE_MATCH_1}" tool)
  if(NOT DEFINED number_${tool})
    set(number_${tool} 0)
    set(name_${tool} "${CMAKE_MATCH_1}")
    list(APPEND tools ${tool})
    list(APPEND packages ${CMAKE_MATCH_2})
  endif()
  math(EXPR number_${tool} "${number_${tool}} + 1")
endforeach()

set(reasons "")
foreach(tool IN LISTS tools)
  list(APPEND reasons "${number_${tool}} need ${name_${tool}}")
endforeach()
if(others GREATER 0)
  list(APPEND reasons "${others} do not apply to this machine, user or build")
endif()
list(JOIN reasons ", " reasons)
list(JOIN packages " " packages)
if(packages)
  string(APPEND reasons "; install these packages to run them: ${packages}")
endif()
if(count GREATER 0)
  set(reasons ": ${reasons}")
endif()
message(NOTICE "${count} tests were skipped${reasons}.")
if(NOT status EQUAL 0)
  message(FATAL_ERROR "check failed: the names of the failed tests are above")
endif()
