# Levels of optimisation, precompiled headers and units. They only make builds faster: nothing else
# needs this file, except that the speed of the program depends on -O2 and -O3.
# Included at the end of CMakeLists.txt.

# Code that takes the time of a run is compiled with -O3, the framework with -O2, code above it with
# -O1, which takes the compiler a fifth less time than -O2; commands lost nothing that was measured,
# except by the sources named here, which have -O3 for that reason. g++ is asked to free its memory
# late, which saves a tenth of its time.
file(GLOB hot CONFIGURE_DEPENDS src/core/kernels/*.cc src/core/ops/*.cc src/core/base/random.cc
  src/lab/heads/*/scored_queries.cc src/lab/heads/*/matrix.cc tests/tools/yardstick/machine.cc)
set_source_files_properties(${hot} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
  COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O3>")
if(HEADLAB_FUZZ)
  set_source_files_properties(${hot} PROPERTIES COMPILE_OPTIONS -fno-sanitize=all)
endif()
get_property(targets GLOBAL PROPERTY headlab_targets)
set(lightly_optimized headlab_training headlab_laboratory headlab_cli)
foreach(target IN LISTS targets)
  target_compile_options(${target} PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=400000> $<$<NOT:$<CONFIG:Debug>>:-O2>)
  if(target IN_LIST lightly_optimized)
    target_compile_options(${target} PRIVATE $<$<NOT:$<CONFIG:Debug>>:-O1>)
  elseif(target MATCHES "^test_")
    target_compile_options(${target} PRIVATE ${HEADLAB_TEST_FLAGS})
  endif()
endforeach()

# The headers of the standard library are compiled once for libraries with -O2, in headlab_base, once
# for those with -O1, in headlab_training, and with GoogleTest once for all tests: 7% less time for a
# unit of eight files, more for a single file, less for the 16 of today. From version 13 on, g++ reads a precompiled header
# only at the level of optimisation that it was made with. `each_source` does without, so that it
# finds missing includes.
set(precompiled <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <limits> <map>
  <memory> <numeric> <optional> <set> <span> <string> <string_view> <utility> <vector>)
if(TARGET GTest::gtest_main)
  file(CONFIGURE OUTPUT empty.cc CONTENT "")
  add_library(test_precompiled OBJECT EXCLUDE_FROM_ALL "${PROJECT_BINARY_DIR}/empty.cc")
  headlab_target(test_precompiled)
  target_compile_options(test_precompiled PRIVATE
    $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=400000> $<$<NOT:$<CONFIG:Debug>>:-O2>
    ${HEADLAB_TEST_FLAGS})
  target_precompile_headers(test_precompiled PRIVATE <gtest/gtest.h> ${precompiled})
  target_link_libraries(test_precompiled PRIVATE GTest::gtest_main)
endif()
target_precompile_headers(headlab_base PRIVATE ${precompiled})
target_precompile_headers(headlab_training PRIVATE ${precompiled})
list(REMOVE_ITEM targets headlab_base headlab_training each_source)
foreach(target IN LISTS targets)
  if(target MATCHES "^test_")
    target_precompile_headers(${target} REUSE_FROM test_precompiled)
  elseif(target IN_LIST lightly_optimized)
    target_precompile_headers(${target} REUSE_FROM headlab_training)
  else()
    target_precompile_headers(${target} REUSE_FROM headlab_base)
  endif()
endforeach()

# Up to 16 sources of a layer are compiled as one unit: a first build takes a third of the time. With
# 8 the files of lab/heads and lab/prune take 1.27 times the time that they take with 16.
# Sources with options of their own are never part of a larger unit. -DCMAKE_UNITY_BUILD=OFF and
# -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON build without units and precompiled headers.
function(headlab_units name)
  set(place 0)
  foreach(source IN LISTS ARGN)
    math(EXPR unit "${place} / 16")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${name}${unit})
    math(EXPR place "${place} + 1")
  endforeach()
endfunction()
foreach(target IN LISTS targets)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  if(target MATCHES "^test_")
    get_target_property(sources ${target} SOURCES)
    headlab_units(${target} ${sources})
  endif()
endforeach()
set_target_properties(headlab_base headlab_training PROPERTIES UNITY_BUILD_MODE GROUP)
foreach(folder core/base core/tensor core/nn core/model core/tasks core/train lab/results
    lab/layouts lab/data lab/runs lab/heads lab/prune lab/studies lab/bench app/report app/cli)
  file(GLOB_RECURSE layer_sources CONFIGURE_DEPENDS src/${folder}/*.cc)
  get_filename_component(layer ${folder} NAME)
  headlab_units(${layer} ${layer_sources})
endforeach()
if(TARGET each_source)
  set_target_properties(each_source PROPERTIES UNITY_BUILD OFF)
endif()
