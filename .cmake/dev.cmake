# Settings of a development build: cmake -C .cmake/dev.cmake -B build-dev
#
# Debug code with assertions of the standard library; new tensors are NaN until they are written. Each
# file is compiled by itself, so that a missing include is an error here and not for somebody else.
set(CMAKE_BUILD_TYPE Debug CACHE STRING "")
set(CMAKE_CXX_FLAGS "-D_GLIBCXX_ASSERTIONS" CACHE STRING "")
set(CMAKE_UNITY_BUILD OFF CACHE BOOL "")
set(HEADLAB_WERROR ON CACHE BOOL "")
set(HEADLAB_TESTS ON CACHE BOOL "")
