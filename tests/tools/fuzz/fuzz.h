// What the harnesses of libFuzzer share. Each is a file fuzz_NAME.cc with one function, given bytes
// that some machine made up: whatever they are, the library must return or throw an Error, and what
// it accepted it must be able to write and read again. They are built where HEADLAB_FUZZ is ON
// (clang), with AddressSanitizer and UndefinedBehaviorSanitizer; run.sh runs them all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "headlab/base/error.h"

namespace headlab {

/// Calls attempt(text); an Error is an answer. Any other end is a finding.
template <class Attempt>
int answered(const std::uint8_t* data, std::size_t size, const Attempt& attempt) {
  try {
    attempt(std::string_view(reinterpret_cast<const char*>(data), size));
  } catch (const Error&) {
    return 0;
  }
  return 0;
}

/// Ends the process, as a finding, unless it holds.
inline void must(bool holds) {
  if (!holds) std::abort();
}

}  // namespace headlab

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
