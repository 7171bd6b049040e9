// The tensors of a layout: which tensor of a file holds a parameter of ours, where each of its
// numbers is there, and whether the tensors of a file are exactly those that its config.json asks
// for. Import and export copy along the same places, so they cannot disagree.
// Read next: layouts.cc, which copies; layout_table.h.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "headlab/core/model/transformer.h"
#include "headlab/lab/layouts/layouts.h"
#include "lab/layouts/layout_table.h"
#include "lab/layouts/sharded_reader.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// A parameter of ours, and its place in a file.
struct Parameter {
  std::string name, theirs;  // `theirs` is empty if the layout has no tensor for it
  Tensor values;
  Form form = Form::same;
  Index part = 0, parts = 1;
  Index width = 1;            // of a head
  bool halves = false;        // pairs of a head are (i, i + D/2) in the file
  bool must_be_zero = false;  // the layout has the name, but means something else by it

  Index rows() const { return values.rank() == 1 ? 1 : values.size(0); }
  Index columns() const { return values.size(-1); }
  /// Returns the shape of the tensor in the file.
  std::vector<std::int64_t> shape() const;
  /// Returns the position in the file's tensor of element [r, c].
  Index place(Index r, Index c) const;
  /// Calls each(element of ours, its position in the file's tensor).
  template <class Each>
  void for_each(const Each& each) const {
    Scalar* at = values.data();
    for (Index r = 0; r < rows(); ++r) {
      for (Index c = 0; c < columns(); ++c) {
        each(*at, place(r, c));
        ++at;
      }
    }
  }
};

/// Returns all parameters of a model that config.json describes.
std::vector<Parameter> parameters_of(const ModelLayout& layout, const Transformer& model,
                                     const Description& about);

/// Returns the tensor of the unembedding of a tied model: a copy of the embedding.
Parameter repeated_embedding(const ModelLayout& layout, const Transformer& model);

/// A file of theirs while it is read: tensors by the names that the table has, with the prefixes
/// that Python packages add or leave out.
class StoredModel {
 public:
  /// Errors: those of ShardedReader; two tensors whose names differ only in their prefix.
  StoredModel(const std::filesystem::path& path, const ModelLayout& layout);

  /// Null if there is none.
  const StoredTensor* find(const std::string& name) const;
  std::vector<float> floats(const std::string& name) const;
  /// Returns whether a tensor that is a parameter is a bias.
  bool has_biases() const;
  double count() const;  // of all numbers

  /// Decides what a tied model is made of. If the file holds one of the two matrices, it is both.
  /// If it holds both and they differ: TransformerLens uses both, and `about` is no longer tied;
  /// other layouts cannot tell, which is an error.
  void settle_tied(Description& about);
  /// Compares the file with what is expected, before anything is read. Error that names tensors
  /// that are missing, left over or of another shape. Returns tensors that need not be read, with
  /// the reason.
  std::vector<UnreadTensor> check(std::vector<Parameter>& parameters) const;

 private:
  const HarmlessTensor* harmless(const std::string& name) const;
  bool all_zero(const std::string& name) const;
  /// Returns whether the unembedding U is the embedding E, as the layout stores the two.
  bool repeats(const StoredTensor& E, const StoredTensor& U, const std::string& embedding,
               const std::string& unembedding) const;

  const ModelLayout& layout_;
  ShardedReader reader_;
  std::map<std::string, std::string> names_;     // in the table: in the file
  std::map<std::string, std::string> repeated_;  // tensors that repeat a parameter: the reason
};

}}  // namespace headlab
