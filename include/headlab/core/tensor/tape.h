// The tape: reverse-mode differentiation. An op computes its output and calls
//
//   return record("exp", y, {x}, [](Node& node) { ... node.gradient() -> node.sum_into(0) ... });
//
// The closure *receives* its node and must not capture the output, or the graph would own itself
// and leak; it may capture plain data and other tensors. `backward` runs closures in descending
// order of creation, without recursion, and frees each as it goes. Creation is counted by thread: a
// graph belongs to the thread that records it. To follow one op from end to end, read
// core/ops/arithmetic.h and src/core/ops/arithmetic.cc; to watch ops run, watch.h.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "headlab/core/base/pool.h"
#include "headlab/core/tensor/tensor.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// Reference-counted elements, shared by all tensors that use the same storage. A gradient of which
/// only some rows are not zero may hold these alone: `rows` are their indices, distinct and
/// ascending, and `count` is the number of their elements. Otherwise `rows` is empty.
struct Storage {
  std::atomic<int> references{1};
  Index count;
  Ids rows{};

  static Storage* make(Index count);
  static void release(Storage* storage) noexcept;
  Scalar* data() const {
    const auto* const header = reinterpret_cast<const char*>(this);
    return reinterpret_cast<Scalar*>(const_cast<char*>(header) + 64);
  }
};

class Node {
 public:
  /// Values that a backward function reads.
  const char* name() const { return name_; }
  const Shape& shape() const { return shape_; }
  Index count() const { return shape_.count(); }
  /// The output's elements and dLoss/doutput.
  const Scalar* output() const { return storage_->data(); }
  const Scalar* gradient() const { return gradient_->data(); }
  const Tensor& input(std::size_t i) const { return inputs_[i]; }
  std::size_t input_count() const { return inputs_.size(); }
  bool wants(std::size_t i) const { return inputs_[i].requires_grad(); }
  /// Returns the gradient of input i, to which an op adds in a loop (dx[i] += ...): zeros at first
  /// use, because other ops may add to it as well. Null if the input requires no gradient.
  Scalar* sum_into(std::size_t i) const;
  /// Returns the same for a kernel, which sets or adds every element, as slot.accumulate says; the
  /// elements need no zeros.
  GradientSlot slot(std::size_t i) const;

 private:
  friend class Tensor;
  friend class Tape;
  friend class GradientStorage;
  Node(const Shape& shape, Storage* storage);
  ~Node();
  static Tensor make(const Shape& shape, Storage* storage);
  static void release(Node* node) noexcept;
  void drop_closure() noexcept;
  void drop_gradient() noexcept;
  bool is_leaf() const { return name_ == nullptr; }

  std::atomic<int> references_{1};
  bool requires_grad_ = false;
  bool retain_gradient_ = false;
  bool queued_ = false;    // is in the queue of a running backward
  bool consumed_ = false;  // backward has run and freed the closure
  Shape shape_;
  Storage* storage_;
  Storage* gradient_ = nullptr;
  std::uint64_t order_ = 0;
  const char* name_ = nullptr;
  PoolVector<Tensor> inputs_;
  void (*run_)(void* closure, Node& node) = nullptr;
  void (*destroy_)(void* closure) noexcept = nullptr;
  void* closure_ = nullptr;
  std::size_t closure_bytes_ = 0;
  Node* next_dead_ = nullptr;  // see release
};

struct WorkEvent;

/// Access of ops and backward to the internals of nodes; see `record`.
class Tape {
 public:
  using Run = void (*)(void*, Node&);
  using Destroy = void (*)(void*) noexcept;
  struct Closure {
    void* memory;
    std::size_t bytes;
    Run run;
    Destroy destroy;
  };
  /// Returns whether an op on these inputs must be recorded, and notifies this thread's watch
  /// (watch.h).
  static bool records(const char* name, const Tensor& output, std::span<const Tensor> inputs);
  static void attach(const char* name, const Tensor& output, std::span<const Tensor> inputs,
                     const Closure& closure);
  static void run_backward(const Tensor& output, const Tensor& gradient);
  static void tell(const WorkEvent& event);

 private:
  struct Pass;
  static bool older(const Tensor& a, const Tensor& b);
  static void push(Pass& pass, const Tensor& tensor);
  static void step(Pass& pass);
};

/// Records an op on the tape and returns `output`. `backward` is called as backward(Node&); it
/// reads node.gradient() and writes to node.slot(i) or node.sum_into(i) for each input i that
/// requires a gradient. An input may be undefined; it then requires no gradient. `name` must be a
/// literal.
template <class Backward>
Tensor record(const char* name, Tensor output, std::span<const Tensor> inputs,
              Backward&& backward) {
  if (Tape::records(name, output, inputs)) {
    using Plain = std::decay_t<Backward>;
    void* memory = pool_allocate(sizeof(Plain));
    new (memory) Plain(std::forward<Backward>(backward));
    Tape::attach(name, output, inputs,
                 {memory, sizeof(Plain),
                  [](void* c, Node& node) { (*static_cast<Plain*>(c))(node); },
                  [](void* c) noexcept { static_cast<Plain*>(c)->~Plain(); }});
  }
  return output;
}
template <class Backward>
Tensor record(const char* name, Tensor output, std::initializer_list<Tensor> inputs,
              Backward&& backward) {
  return record(name, std::move(output), std::span(inputs.begin(), inputs.size()),
                std::forward<Backward>(backward));
}

/// Adds dLoss/dx to the gradient of every x that requires one and contributed to `loss`, and frees
/// the graph. Errors: loss has more than one element, requires no gradient, or its graph was freed
/// by an earlier backward. If an exception is thrown, all gradients keep their previous values; the
/// part of the graph that has run is freed.
void backward(const Tensor& loss);
/// Runs backward from any output, given dLoss/doutput of its shape.
void backward(const Tensor& output, const Tensor& gradient);

/// Disables recording of ops on this thread for the lifetime of the object.
class NoGrad {
 public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  bool before_;
};
bool grad_enabled();

}}  // namespace headlab
