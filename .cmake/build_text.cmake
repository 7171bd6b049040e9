# Sets `build_text`, by which `headlab --version` and every benchmark name the build. Included by
# CMakeLists.txt after flags.cmake.

# -march=native is named by what the compiler takes it for: two machines that differ here differ in
# speed.
string(REPLACE "GNU" "g++" compiler "${CMAKE_CXX_COMPILER_ID}")
string(REPLACE "Clang" "clang++" compiler "${compiler}")
set(processor "any ${CMAKE_SYSTEM_PROCESSOR}")
if("-march=native" IN_LIST numbers)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -march=native "-###" -x c++ -c /dev/null
    OUTPUT_QUIET ERROR_VARIABLE options)
  if(options MATCHES "\"-(march=|target-cpu\" \")([^\"]+)\"")
    set(processor ${CMAKE_MATCH_2})
  endif()
  if(options MATCHES "\"-mtune=([^\"]+)\"")
    string(APPEND processor ", tuned for ${CMAKE_MATCH_1}")
  endif()
endif()
set(kind "${CMAKE_BUILD_TYPE}")
if(NOT kind)
  set(kind "no build type")
endif()
set(build_text "${compiler} ${CMAKE_CXX_COMPILER_VERSION}, ${kind}, for ${processor}")
