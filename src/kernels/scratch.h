// Scratch memory of kernels: a buffer per thread and purpose that grows and stays, so that nothing
// is allocated once the largest size has been seen. Declare one as `static Scratch` inside the
// function that uses it; a function that calls itself needs another. Read next: base/threads.h.
#pragma once

#include "headlab/base/threads.h"
#include "headlab/kernels/scalar.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

class Scratch {
 public:
  /// `count` scalars on a 64-byte boundary, with whatever they hold; valid until the next call in
  /// this thread.
  Scalar* get(Index count) {
    return static_cast<Scalar*>(memory_.get(static_cast<std::size_t>(count) * sizeof(Scalar)));
  }

 private:
  ThreadMemory memory_;
};

}}  // namespace headlab
