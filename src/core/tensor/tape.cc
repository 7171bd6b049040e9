// The tape: nodes, recording, backward. Nothing here recurses, neither when a graph runs backward
// nor when it is destroyed, because a graph may be 100,000 nodes deep. Backward takes nodes from a
// queue, youngest first, so a node runs only after all nodes that read its output. Read next:
// src/core/ops/arithmetic.cc, from `affine` down: the shortest ops.
#include "headlab/core/tensor/tape.h"

#include <algorithm>
#include <limits>

#include "core/kernels/elementwise.h"
#include "core/tensor/gradient_storage.h"
#include "headlab/core/base/error.h"
#include "headlab/core/tensor/watch.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

thread_local bool recording = true;
thread_local WorkWatch* watch = nullptr;
thread_local std::uint64_t nodes_recorded = 0;
thread_local Node* dead_nodes = nullptr;
thread_local bool destroying = false;

constexpr std::size_t kStorageHeader = 64;  // keeps the elements aligned to 64 bytes

}  // namespace

// --- Storage and nodes

Storage* Storage::make(Index count) {
  static_assert(sizeof(Storage) <= kStorageHeader);
  void* memory = pool_allocate(kStorageHeader + static_cast<std::size_t>(count) * sizeof(Scalar));
  auto* storage = new (memory) Storage{.count = count};
#ifndef NDEBUG  // makes reads of uninitialised elements visible
  fill_array(count, std::numeric_limits<Scalar>::quiet_NaN(), storage->data());
#endif
  return storage;
}

void Storage::release(Storage* storage) noexcept {
  if (storage->references.fetch_sub(1, std::memory_order_acq_rel) == 1) {
    const auto count = static_cast<std::size_t>(storage->count);
    storage->~Storage();
    pool_free(storage, kStorageHeader + count * sizeof(Scalar));
  }
}

Node::Node(const Shape& shape, Storage* storage) : shape_(shape), storage_(storage) {}

Node::~Node() {
  drop_closure();
  drop_gradient();
  Storage::release(storage_);
}

Tensor Node::make(const Shape& shape, Storage* storage) {
  return Tensor(new (pool_allocate(sizeof(Node))) Node(shape, storage));
}

/// Destroying a node releases its inputs, which in a deep graph would overflow the stack by
/// recursion. Therefore the outermost call destroys nodes, and nodes that lose their last reference
/// meanwhile wait in a list.
void Node::release(Node* node) noexcept {
  if (node->references_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  node->next_dead_ = dead_nodes;
  dead_nodes = node;
  if (destroying) return;
  destroying = true;
  while (dead_nodes != nullptr) {
    Node* dead = dead_nodes;
    dead_nodes = dead->next_dead_;
    dead->~Node();
    pool_free(dead, sizeof(Node));
  }
  destroying = false;
}

void Node::drop_closure() noexcept {
  if (closure_ != nullptr) {
    destroy_(closure_);
    pool_free(closure_, closure_bytes_);
    closure_ = nullptr;
  }
  inputs_ = {};
}

void Node::drop_gradient() noexcept {
  if (gradient_ != nullptr) {
    Storage::release(gradient_);
    gradient_ = nullptr;
  }
}

GradientSlot Node::slot(std::size_t i) const {
  if (!wants(i)) return {nullptr, false};
  Node& to = *inputs_[i].node();
  GradientStorage::complete(to);
  Storage* const before = to.gradient_;
  if (before != nullptr && (to.is_leaf() || before->references == 1)) return {before->data(), true};
  to.gradient_ = Storage::make(to.count());
  if (before == nullptr) return {to.gradient_->data(), false};
  std::copy_n(before->data(), to.count(), to.gradient_->data());  // others share it
  Storage::release(before);
  return {to.gradient_->data(), true};
}

Scalar* Node::sum_into(std::size_t i) const {
  const GradientSlot to = slot(i);
  if (to && !to.accumulate) fill_array(inputs_[i].count(), 0, to.data);
  return to.data;
}

// --- Recording

void Tape::tell(const WorkEvent& event) {
  if (watch != nullptr) watch->tell_(event);
}

bool Tape::records(const char* name, const Tensor& output, std::span<const Tensor> inputs) {
  tell({name, WorkEvent::Kind::forward, &output.shape(), inputs});
  return recording && std::ranges::any_of(inputs, &Tensor::requires_grad);
}

void Tape::attach(const char* name, const Tensor& output, std::span<const Tensor> inputs,
                  const Closure& closure) {
  Node& node = *output.node();
  node.name_ = name;
  node.requires_grad_ = true;
  node.order_ = ++nodes_recorded;
  node.inputs_.assign(inputs.begin(), inputs.end());
  node.run_ = closure.run;
  node.destroy_ = closure.destroy;
  node.closure_ = closure.memory;
  node.closure_bytes_ = closure.bytes;
}

NoGrad::NoGrad() : before_(recording) { recording = false; }
NoGrad::~NoGrad() { recording = before_; }
bool grad_enabled() { return recording; }

WorkWatch::WorkWatch(Tell tell) : tell_(std::move(tell)), before_(watch) { watch = this; }
WorkWatch::~WorkWatch() { watch = before_; }
void note_work(const char* name) { Tape::tell({name, WorkEvent::Kind::other}); }

// --- Backward

/// A backward in progress. If an exception ends it, every gradient gets its previous value back;
/// nodes that have not run do not change.
struct Tape::Pass {
  PoolVector<Tensor> queue;                    // a heap, youngest first; the first one runs
  PoolVector<std::pair<Tensor, Tensor>> kept;  // tensors that keep their gradient, with a copy of
                                               // the old one
  bool finished = false;

  ~Pass() {
    for (const Tensor& waiting : queue) {
      waiting.node()->queued_ = false;
      waiting.node()->drop_gradient();
    }
    for (const auto& [tensor, before] : kept) {
      Node& node = *tensor.node();
      node.queued_ = false;
      if (!finished && !before.defined()) node.drop_gradient();
      if (!finished && before.defined() && node.gradient_ != nullptr) {
        std::copy_n(before.data(), node.count(), node.gradient_->data());
      }
    }
  }
};

bool Tape::older(const Tensor& a, const Tensor& b) { return a.node()->order_ < b.node()->order_; }

/// Queues a node. Before a retained gradient is added to, its old value is copied.
void Tape::push(Pass& pass, const Tensor& tensor) {
  if (!tensor.requires_grad()) return;
  Node& node = *tensor.node();
  if (node.queued_) return;
  require(!node.consumed_, "cannot run backward: the graph of `", node.name_,
          "` was freed by an earlier backward; run the forward pass again");
  if (node.is_leaf() || node.retain_gradient_) {
    pass.kept.push_back({tensor, node.gradient_ ? tensor.grad().clone() : Tensor()});
  }
  if (!node.is_leaf()) {
    pass.queue.push_back(tensor);
    std::push_heap(pass.queue.begin(), pass.queue.end(), older);
  }
  node.queued_ = true;
}

/// Runs the backward function of the youngest node, queues its inputs, and frees the memory of this
/// step.
void Tape::step(Pass& pass) {
  Node& node = *pass.queue.front().node();
  node.consumed_ = true;
  if (node.gradient_ != nullptr) {
    for (const Tensor& input : node.inputs_) push(pass, input);
    node.run_(node.closure_, node);
    tell({node.name_, WorkEvent::Kind::backward, &node.shape_, node.inputs_});
  }
  node.queued_ = false;
  node.drop_closure();
  if (!node.retain_gradient_) node.drop_gradient();
  std::pop_heap(pass.queue.begin(), pass.queue.end(), older);
  pass.queue.pop_back();
}

void Tape::run_backward(const Tensor& output, const Tensor& gradient) {
  require(output.requires_grad(),
          "cannot run backward: the loss depends on nothing that requires a gradient");
  require(output.shape() == gradient.shape(), "cannot run backward: the gradient has shape ",
          gradient.shape(), ", the output ", output.shape());
  Pass pass;
  push(pass, output);
  Node& root = *output.node();
  if (root.gradient_ == nullptr) {
    root.gradient_ = Storage::make(root.count());
    fill_array(root.count(), 0, root.gradient_->data());
  }
  add_scaled(root.count(), 1, gradient.data(), root.gradient_->data());
  while (!pass.queue.empty()) step(pass);
  pass.finished = true;
}

void backward(const Tensor& loss) {
  require(loss.count() == 1, "cannot run backward: the loss must have one element, got the shape ",
          loss.shape());
  Tape::run_backward(loss, Tensor::full(loss.shape(), 1));
}

void backward(const Tensor& output, const Tensor& gradient) {
  Tape::run_backward(output, gradient);
}

}}  // namespace headlab
