// Names, shapes and orders of tensors. A name is compared with the table after its prefix is taken
// off; numbers of blocks are stars there. A tensor that nothing reads is an error unless a row says
// that it is harmless: a model with one more tensor computes something else.
// Read next: layout_tensors.h.
#include "lab/layouts/layout_tensors.h"

#include <algorithm>
#include <set>

#include "headlab/core/base/error.h"
#include "headlab/core/base/text.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

namespace fs = std::filesystem;

/// Returns a name with its numbers as stars, "blocks.*.ln1.w", and the first of the numbers, "" if
/// there is none.
std::pair<std::string, std::string> starred(const std::string& name) {
  std::vector<std::string> parts;
  std::string number;
  for (const std::string_view part : split(name, '.')) {
    const bool is_number =
        !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    parts.emplace_back(is_number ? "*" : part);
    if (is_number && number.empty()) number = part;
  }
  return {join(parts, "."), number};
}

/// Returns the name with the layout's prefix.
std::string prefixed(const ModelLayout& layout, const std::string& name) {
  return name.starts_with("lm_head") ? name : layout.prefix + name;
}

std::string without_prefix(const ModelLayout& layout, std::string name) {
  for (const std::string_view prefix :
       {std::string_view("_orig_mod."), std::string_view(layout.prefix)}) {
    if (name.starts_with(prefix)) name.erase(0, prefix.size());
  }
  return name;
}

/// Returns the tensor of the embedding, which all layouts have.
std::string embedding_name(const ModelLayout& layout) {
  const auto found = std::ranges::find(layout.places, std::string_view("embed.W_E"), &Place::ours);
  return found == layout.places.end() ? "embed.W_E" : prefixed(layout, found->theirs);
}

std::string described(const std::string& name, const std::vector<std::int64_t>& shape) {
  return text(name, " ", Json(shape).dump(1));
}

/// Error with a few faults, and the number of the others.
[[noreturn]] void refuse(const ModelLayout& layout, std::vector<std::string> faults) {
  const std::size_t more = faults.size() > 5 ? faults.size() - 4 : 0;
  if (more > 0) faults.resize(4);
  throw Error(text("the tensors do not fit config.json, which is ", layout.name,
                   "'s: ", join(faults, "; "), more > 0 ? text("; and ", more, " more") : ""));
}

/// Returns whether the model with this config.json has the tensor of a place.
bool exists(const ModelLayout& layout, const Place& place, const std::string& pattern,
            const Description& about) {
  const bool has_group =
      place.group == BiasGroup::always || std::ranges::count(about.biases, place.group) > 0;
  const bool is_norm = pattern.find("ln1.") != pattern.npos ||
                       pattern.find("ln2.") != pattern.npos || pattern.starts_with("ln_final.");
  return has_group && !(about.bare_norms && layout.own_names && is_norm);
}

/// TransformerLens computes f(x W_gate) (x W_in) + b_in where we compute (f(x W_gate + b_gate) (x
/// W_in + b_in)): they agree only if these biases are 0.
bool means_another_bias(const ModelLayout& layout, const std::string& pattern,
                        const TransformerConfig& config) {
  const bool is_gated = config.d_ff > 0 && kind_of(config.activation).matrices == 3;
  const bool is_one = pattern == "blocks.*.mlp.b_gate" || pattern == "blocks.*.mlp.b_in";
  return layout.own_names && is_gated && is_one;
}

}  // namespace

std::vector<std::int64_t> Parameter::shape() const {
  const Index R = rows(), N = columns() * parts;
  if (form == Form::head_rows) return {R / width, width, N};
  if (form == Form::by_head && values.rank() == 1) return {N / width, width};
  if (form == Form::by_head) return {N / width, R, width};
  if (values.rank() == 1) return {N};
  return form == Form::transposed ? std::vector{N, R} : std::vector{R, N};
}

Index Parameter::place(Index r, Index c) const {
  if (halves) c += c % width / 2 + c % 2 * (width / 2) - c % width;
  if (form == Form::by_head) return (c / width * rows() + r) * width + c % width;
  c += part * columns();
  return form == Form::transposed ? c * rows() + r : r * columns() * parts + c;
}

std::vector<Parameter> parameters_of(const ModelLayout& layout, const Transformer& model,
                                     const Description& about) {
  const TransformerConfig& config = model.config();
  const bool has_halves =
      layout.halves && !about.adjacent_pairs && config.positions == Positions::rotary;
  std::vector<Parameter> all;
  model.visit([&](const std::string& name, const Tensor& values) {
    const auto [pattern, block] = starred(name);
    const auto found = std::ranges::find(layout.places, pattern, &Place::ours);
    Place place{"", layout.own_names ? pattern.c_str() : ""};
    if (found != layout.places.end()) place = *found;
    std::string theirs = exists(layout, place, pattern, about) ? place.theirs : "";
    if (const std::size_t star = theirs.find('*'); star != theirs.npos) {
      theirs.replace(star, 1, block);
    }
    if (place.form == Form::grouped && config.kv_heads > 0) {
      theirs.insert(theirs.rfind('.') + 1, "_");
    }
    Form form = place.form == Form::grouped ? Form::by_head : place.form;
    if (form == Form::linear) form = layout.linear;
    const bool is_rotated = pattern.ends_with("_Q") || pattern.ends_with("_K");
    all.push_back({.name = name,
                   .theirs = theirs.empty() ? "" : prefixed(layout, theirs),
                   .values = values,
                   .form = form,
                   .part = place.part,
                   .parts = place.parts,
                   .width = is_rotated ? config.d_head_of(0) : config.d_value_of(0),
                   .halves = is_rotated && has_halves,
                   .must_be_zero = means_another_bias(layout, pattern, config)});
  });
  return all;
}

Parameter repeated_embedding(const ModelLayout& layout, const Transformer& model) {
  return {.name = "embed.W_E",
          .theirs = layout.unembedding,
          .values = model.embedding(),
          .form = layout.own_names ? Form::transposed : Form::same};
}

StoredModel::StoredModel(const fs::path& path, const ModelLayout& layout)
    : layout_(layout), reader_(path) {
  for (const StoredTensor& tensor : reader_.tensors()) {
    const std::string name = prefixed(layout, without_prefix(layout, tensor.name));
    const auto [other, is_new] = names_.emplace(name, tensor.name);
    if (!is_new) {
      throw Error(text("the tensors ", other->second, " and ", tensor.name,
                       " are both the parameter ", name),
                  "leave one of them out: the file may hold two models");
    }
  }
}

const StoredTensor* StoredModel::find(const std::string& name) const {
  const auto found = names_.find(name);
  return found == names_.end() ? nullptr : reader_.find(found->second);
}

std::vector<float> StoredModel::floats(const std::string& name) const {
  return reader_.floats(names_.at(name));
}

const HarmlessTensor* StoredModel::harmless(const std::string& name) const {
  const std::string pattern = starred(without_prefix(layout_, name)).first;
  const auto found = std::ranges::find(layout_.harmless, pattern, &HarmlessTensor::name);
  return found == layout_.harmless.end() ? nullptr : &*found;
}

bool StoredModel::has_biases() const {
  return std::ranges::any_of(names_, [&](const auto& one) {
    const std::string& name = one.first;
    const bool is_bias = name.ends_with(".bias") || name.find(".b_") != name.npos;
    return is_bias && harmless(name) == nullptr;
  });
}

double StoredModel::count() const {
  double held = 0;
  for (const StoredTensor& tensor : reader_.tensors()) {
    held += static_cast<double>(tensor.count());
  }
  return held;
}

bool StoredModel::all_zero(const std::string& name) const {
  return std::ranges::all_of(floats(name), [](float value) { return value == 0; });
}

void StoredModel::settle_tied(Description& about) {
  if (!about.config.tied) return;
  const std::string embedding = embedding_name(layout_), unembedding = layout_.unembedding;
  const StoredTensor *E = find(embedding), *U = find(unembedding);
  if (U == nullptr) return;
  if (E == nullptr && layout_.own_names) return;
  if (E == nullptr) {
    names_[embedding] = names_.at(unembedding);
    names_.erase(unembedding);
    return;
  }
  const std::string bias = "unembed.b_U";
  const bool has_bias = layout_.own_names && find(bias) != nullptr;
  const bool is_repeated =
      repeats(*E, *U, embedding, unembedding) && !(has_bias && !all_zero(bias));
  if (!is_repeated && layout_.own_names) {
    about.config.tied = false;
    return;
  }
  if (!is_repeated) {
    throw Error(text(names_.at(unembedding), " differs from ", names_.at(embedding),
                     ", but config.json says that the model is tied: they would be one matrix"),
                "set \"tie_word_embeddings\": false in config.json to read both");
  }
  repeated_[unembedding] = "equal to " + embedding;
  if (has_bias) repeated_[bias] = "all 0";
}

bool StoredModel::repeats(const StoredTensor& E, const StoredTensor& U,
                          const std::string& embedding, const std::string& unembedding) const {
  const bool are_matrices = E.shape.size() == 2 && U.shape.size() == 2;
  if (!are_matrices || E.count() != U.count()) return false;
  const std::vector<float> first = floats(embedding), second = floats(unembedding);
  if (!layout_.own_names) return E.shape == U.shape && first == second;
  if (E.shape[0] != U.shape[1]) return false;
  const auto rows = static_cast<std::size_t>(E.shape[0]);
  const auto columns = static_cast<std::size_t>(E.shape[1]);
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < columns; ++c) {
      if (first[r * columns + c] != second[c * rows + r]) return false;
    }
  }
  return true;
}

std::vector<UnreadTensor> StoredModel::check(std::vector<Parameter>& parameters) const {
  std::vector<std::string> faults;
  std::vector<UnreadTensor> unread;
  std::set<std::string> used;
  for (Parameter& one : parameters) {
    const StoredTensor* stored = one.theirs.empty() ? nullptr : find(one.theirs);
    if (one.must_be_zero && stored == nullptr) one.theirs.clear();
    if (one.theirs.empty()) {
      if (one.values.rank() > 1) faults.push_back(text("there is no place for ", one.name));
      continue;
    }
    used.insert(one.theirs);
    Parameter combined = one;  // TransformerLens: an axis for heads, or none
    combined.form = Form::same;
    if (stored != nullptr && layout_.own_names && stored->shape == combined.shape()) one = combined;
    if (stored == nullptr) {
      faults.push_back(described(one.theirs, one.shape()) + " is missing");
    } else if (stored->shape != one.shape()) {
      faults.push_back(text(described(one.theirs, stored->shape), " was expected to be ",
                            Json(one.shape()).dump(1)));
    }
  }
  for (const auto& [name, in_file] : names_) {
    if (used.contains(name)) continue;
    const HarmlessTensor* row = harmless(name);
    const auto repeated = repeated_.find(name);
    const std::string whole = described(in_file, find(name)->shape);
    if (row != nullptr) {
      unread.push_back({whole, row->about.kind, row->about.why});
    } else if (repeated != repeated_.end()) {
      unread.push_back({whole, "tensor", repeated->second});
    } else {
      faults.push_back(whole + " has no place");
    }
  }
  if (!faults.empty()) refuse(layout_, faults);
  return unread;
}

}}  // namespace headlab
