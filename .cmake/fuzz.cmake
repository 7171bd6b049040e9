# The harnesses of tests/tools/fuzz, built with clang by run.sh there. Read by CMakeLists.txt if
# HEADLAB_FUZZ is on. Each tests/tools/fuzz/NAME.txt holds first inputs of a program of libFuzzer,
# whose function in harnesses.cc has its name. They test code that reads input from outside; code
# that computes is not instrumented.

headlab_library(headlab_fuzzed STATIC ${engine} ${training} ${results} ${layouts} ${laboratory}
  "${PROJECT_BINARY_DIR}/page_files.cc" src/app/cli/arguments.cc src/app/cli/terminal.cc)
target_link_libraries(headlab_fuzzed PUBLIC headlab_base)
target_compile_definitions(headlab_fuzzed PUBLIC HEADLAB_LAB)
add_custom_target(fuzzers)
file(GLOB inputs CONFIGURE_DEPENDS tests/tools/fuzz/*.txt)
list(FILTER inputs EXCLUDE REGEX uncovered)
foreach(input IN LISTS inputs)
  get_filename_component(reader ${input} NAME_WE)
  set(name fuzz_${reader})
  add_executable(${name} tests/tools/fuzz/harnesses.cc)
  target_compile_definitions(${name} PRIVATE FUZZED=${reader})
  headlab_target(${name})
  target_include_directories(${name} PRIVATE ${private_headers} tests)
  target_link_libraries(${name} PRIVATE headlab_fuzzed)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  add_dependencies(fuzzers ${name})
endforeach()
