// Scratch memory of kernels: a buffer per thread and purpose that grows and stays, so that nothing
// is allocated once the largest size has been seen. Declare one as `thread_local Scratch` inside
// the function that uses it; a function that calls itself needs another.
#pragma once

#include <memory>
#include <new>

#include "headlab/kernels/scalar.h"

namespace headlab::inline HEADLAB_SCALAR {

class Scratch {
 public:
  /// `count` scalars on a 64-byte boundary, with whatever they hold; valid until the next call.
  Scalar* get(Index count) {
    if (count > capacity_) grow(count);
    return data_.get();
  }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(Scalar* p) const { ::operator delete(p, kAlignment); }
  };
  void grow(Index count) {
    const Index bytes = (count * static_cast<Index>(sizeof(Scalar)) + 4095) / 4096 * 4096;
    data_.reset();
    capacity_ = 0;
    data_.reset(static_cast<Scalar*>(::operator new(static_cast<std::size_t>(bytes), kAlignment)));
    capacity_ = bytes / static_cast<Index>(sizeof(Scalar));
  }

  std::unique_ptr<Scalar, Free> data_;
  Index capacity_ = 0;
};

}  // namespace headlab::inline HEADLAB_SCALAR
