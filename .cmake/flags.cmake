# Flags of the compiler: those that numbers depend on (`numbers`), hardening (`hardening`,
# `hardening_of_programs`) and warnings (`warnings`). Included by CMakeLists.txt.

string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
set(given_flags "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}}")
# Results are bit-identical for any number of threads, and a NaN must stay a NaN.
if(given_flags MATCHES "-ffast-math|-Ofast|-ffinite-math-only|-funsafe-math-optimizations")
  message(FATAL_ERROR "headlab cannot be compiled with ${CMAKE_MATCH_0}: its tests for numbers that are \
not finite would vanish. Leave the flag out of CMAKE_CXX_FLAGS and CXXFLAGS.")
endif()
if(HEADLAB_SANITIZE)
  set(sanitizers -fsanitize=${HEADLAB_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_compile_options(-O1 -g1 -D_GLIBCXX_ASSERTIONS ${sanitizers})
  add_link_options(${sanitizers})
endif()
set(numbers "")
# -fexpensive-optimizations: so that g++ contracts at -O1 as at -O2. avoid-fma-max-bits: so that it
# contracts alike in all loops; for processors of AMD it leaves out some (GCC's avoid_fma_chains),
# and two kernels for the same product then differ in their last bits.
set(candidates -fno-math-errno -ffp-contract=fast -fexpensive-optimizations)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  list(APPEND candidates --param=avoid-fma-max-bits=0)
endif()
if(HEADLAB_NATIVE)
  list(APPEND candidates -march=native)
endif()
foreach(flag IN LISTS candidates)
  string(MAKE_C_IDENTIFIER "HEADLAB_HAS${flag}" supported)
  check_cxx_compiler_flag(${flag} ${supported})
  if(${supported})
    list(APPEND numbers ${flag})
  endif()
endforeach()

# Hardening: a position-independent program whose tables are read-only once it has started, stack
# protectors, and checked calls of the C library. Builds with sanitizers do without, and so do tests,
# which are not optimised.
set(hardening "")
set(hardening_of_programs "")
if(HEADLAB_HARDEN AND NOT HEADLAB_SANITIZE AND NOT given_flags MATCHES "-fsanitize")
  set(candidates -fstack-protector-strong)
  if(NOT CMAKE_POSITION_INDEPENDENT_CODE)
    list(APPEND candidates -fPIE)
  endif()
  foreach(flag IN LISTS candidates)
    string(MAKE_C_IDENTIFIER "HEADLAB_HAS${flag}" supported)
    check_cxx_compiler_flag(${flag} ${supported})
    if(${supported})
      list(APPEND hardening ${flag})
    endif()
  endforeach()
  foreach(flag -pie -Wl,-z,relro -Wl,-z,now)
    string(MAKE_C_IDENTIFIER "HEADLAB_LINKS${flag}" supported)
    check_linker_flag(CXX ${flag} ${supported})
    if(${supported})
      list(APPEND hardening_of_programs ${flag})
    endif()
  endforeach()
  set(CMAKE_REQUIRED_FLAGS "-O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2 -Werror")
  check_cxx_source_compiles("#include <cstring>\nint main() { return 0; }" HEADLAB_HAS_FORTIFY)
  unset(CMAKE_REQUIRED_FLAGS)
  if(HEADLAB_HAS_FORTIFY AND NOT given_flags MATCHES "_FORTIFY_SOURCE")
    list(APPEND hardening
      $<$<NOT:$<CONFIG:Debug>>:-U_FORTIFY_SOURCE> $<$<NOT:$<CONFIG:Debug>>:-D_FORTIFY_SOURCE=2>)
  endif()
endif()

set(warnings -Wall -Wextra -Wconversion -Wno-sign-conversion -Wshadow)
if(HEADLAB_WERROR)
  list(APPEND warnings -Werror)
endif()

# Warnings that are mistakes of one compiler; all others report the same code if it is wrong.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # g++ 12 sees overlapping copies in "text" + std::string (GCC bug 105651, fixed in 13).
  list(APPEND warnings -Wno-restrict)
elseif(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  # std::stable_sort of libstdc++ 12 calls a function that libstdc++ 12 marks as deprecated.
  list(APPEND warnings -Wno-deprecated-declarations)
  # clang++ 19 names a feature of some processors, +avx10.1-256, and warns of it in each file that is
  # compiled with -march=native. Older versions do not know this warning.
  check_cxx_compiler_flag(-Winvalid-feature-combination HEADLAB_HAS_invalid_feature_combination)
  if(HEADLAB_HAS_invalid_feature_combination)
    list(APPEND warnings -Wno-invalid-feature-combination)
  endif()
endif()
