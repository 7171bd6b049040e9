// examples/nano.cc as a namespace, for tests that compare it with the library. One source of a test
// program may include this: nano.cc defines functions.
// Read next: tests/model/nano_test.cc, tests/tasks/nano_test.cc.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <valarray>
#include <vector>

namespace nano {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wreturn-type"  // of a main that is not the program's
#include "../../examples/nano.cc"
#pragma GCC diagnostic pop
}  // namespace nano
