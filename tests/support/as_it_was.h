// Output that stays as it was, to the byte: what other tests do not ask for is noticed too. A
// change on purpose brings its new digest, which the failure names.
#pragma once

#include <gtest/gtest.h>

#include "base/digest.h"

namespace headlab {

inline void expect_as_it_was(const std::string& output, const std::string& known) {
  EXPECT_EQ(fingerprint(output), known) << output;
}

}  // namespace headlab
