// What copy, sort, reverse and reverse_cross share: n symbols, with n drawn from `shortest` to
// `longest`, and an answer of n symbols. Tokens 0 ... symbols - 1 are the symbols, and the token
// `symbols`, shown as |, asks for the answer. Read next: copy.h, the simplest.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/kernels/scalar.h"

namespace headlab::inline HEADLAB_SCALAR {

struct SymbolsOptions {
  Index symbols = 16;
  Index shortest = 4;
  Index longest = 10;
};
Settings settings_of(SymbolsOptions& options);

}  // namespace headlab::inline HEADLAB_SCALAR
