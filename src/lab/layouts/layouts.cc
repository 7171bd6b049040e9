// The two ways through the table of layouts: one function says where each element of a parameter
// stands in theirs, import copies one way and export the other.
// Read next: layout_table.h.
#include "headlab/model/layouts.h"

#include <algorithm>
#include <map>
#include <set>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/safetensors.h"
#include "headlab/base/text.h"
#include "layouts/layout_table.h"
#include "results/npy.h"
#include "results/npz.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArrays = "npz";

const Layout& layout_named(std::string_view name) {
  return named("layout", name, kLayouts, &Layout::name);
}

/// A parameter of ours, and where it lies.
struct Parameter {
  std::string name, theirs;
  Tensor values;
  Form form;
  Index part, parts, width;  // the width of a head
  bool halves;

  Index rows() const { return values.rank() == 1 ? 1 : values.size(0); }
  Index columns() const { return values.size(-1); }
  std::vector<std::int64_t> shape() const {
    const Index R = rows(), N = columns() * parts;
    if (form == Form::head_rows) return {R / width, width, N};
    if (form == Form::by_head && values.rank() == 1) return {N / width, width};
    if (form == Form::by_head) return {N / width, R, width};
    if (values.rank() == 1) return {N};
    return form == Form::transposed ? std::vector{N, R} : std::vector{R, N};
  }
  /// Where element [r, c] of ours stands in theirs.
  Index place(Index r, Index c) const {
    if (halves) c += c % width / 2 + c % 2 * (width / 2) - c % width;
    if (form == Form::by_head) return (c / width * rows() + r) * width + c % width;
    c += part * columns();
    return form == Form::transposed ? c * rows() + r : r * columns() * parts + c;
  }
  /// Calls each(element of ours, where it stands in theirs).
  template <class Each>
  void for_each(const Each& each) const {
    Scalar* at = values.data();
    for (Index r = 0; r < rows(); ++r)
      for (Index c = 0; c < columns(); ++c) each(*at++, place(r, c));
  }
};

/// "blocks.12.ln1.w" as "blocks.*.ln1.w", and the number; "" where there is none.
std::pair<std::string, std::string> starred(std::string name) {
  constexpr std::string_view kBlocks = "blocks.";
  if (!name.starts_with(kBlocks)) return {name, ""};
  const std::size_t length = name.find('.', kBlocks.size()) - kBlocks.size();
  const std::string number = name.substr(kBlocks.size(), length);
  return {name.replace(kBlocks.size(), length, "*"), number};
}

/// The name with the layout's prefix.
std::string prefixed(const Layout& layout, const std::string& name) {
  return name.starts_with("lm_head") ? name : layout.prefix + name;
}

/// All parameters; `theirs` is empty where the layout has no place for one.
std::vector<Parameter> parameters_of(const Layout& layout, const Transformer& model, bool halves) {
  const TransformerConfig& config = model.config();
  std::vector<Parameter> all;
  model.visit([&](const std::string& name, const Tensor& values) {
    const auto [pattern, block] = starred(name);
    const auto found = std::ranges::find(layout.places, pattern, &Place::ours);
    Place place{"", layout.own_names ? pattern.c_str() : ""};
    if (found != layout.places.end()) place = *found;
    std::string theirs = place.theirs;
    if (const std::size_t star = theirs.find('*'); star != theirs.npos)
      theirs.replace(star, 1, block);
    if (place.form == Form::grouped && config.kv_heads > 0)
      theirs.insert(theirs.rfind('.') + 1, "_");
    const bool turned = pattern.ends_with("_Q") || pattern.ends_with("_K");
    all.push_back({name, theirs.empty() ? "" : prefixed(layout, theirs), values,
                   place.form == Form::linear    ? layout.linear
                   : place.form == Form::grouped ? Form::by_head
                                                 : place.form,
                   place.part, place.parts, turned ? config.d_head_of(0) : config.d_value_of(0),
                   turned && halves && config.positions == Positions::rotary});
  });
  return all;
}

/// A file of theirs while it is read: tensors by the names that the table has.
struct Theirs {
  TensorReader reader;
  std::map<std::string, std::string> names = {};  // in the file

  Theirs(const fs::path& path, const Layout& layout) : reader(path) {
    for (const StoredTensor& tensor : reader.header().tensors) {
      std::string name = tensor.name;
      for (const std::string_view prefix :
           {std::string_view("_orig_mod."), std::string_view(layout.prefix)})
        if (name.starts_with(prefix)) name.erase(0, prefix.size());
      names.emplace(prefixed(layout, name), tensor.name);
    }
  }
  const StoredTensor* find(const std::string& name) const {
    const auto found = names.find(name);
    return found == names.end() ? nullptr : reader.header().find(found->second);
  }
};

/// The unembedding of a tied model, as one more tensor.
std::vector<float> tied_of(const Transformer& model, const Layout& layout, TensorFile& file) {
  const Tensor& E = model.embedding();
  const Form form = layout.own_names ? Form::transposed : Form::same;
  const Parameter one{"embed.W_E", layout.tied, E, form, 0, 1, 1, false};
  std::vector<float> values(E.count());
  one.for_each([&](Scalar& ours, Index to) { values[to] = static_cast<float>(ours); });
  file.tensors.push_back({layout.tied, "F32", one.shape(), {}});
  return values;
}

std::string described(const std::string& name, const std::vector<std::int64_t>& shape) {
  return text(name, " ", Json(shape).dump(1));
}

/// A few faults, and how many more there are.
[[noreturn]] void refuse(const Layout& layout, std::vector<std::string> faults) {
  const std::size_t more = faults.size() > 5 ? faults.size() - 4 : 0;
  if (more > 0) faults.resize(4);
  throw Error(text("the tensors do not fit config.json, which is ", layout.name,
                   "'s: ", join(faults, "; "), more > 0 ? text("; and ", more, " more") : ""));
}

/// Holds what is there against what is expected, before anything is read. The tensors that are no
/// parameters.
std::vector<std::string> check(const Layout& layout, const Theirs& theirs,
                               std::vector<Parameter>& parameters, bool tied) {
  std::vector<std::string> faults, unread;
  std::set<std::string> used;
  for (Parameter& one : parameters) {
    if (one.theirs.empty()) {
      if (one.values.rank() > 1) faults.push_back(text("there is no place for ", one.name));
      continue;
    }
    used.insert(one.theirs);
    const StoredTensor* stored = theirs.find(one.theirs);
    Parameter combined = one;  // TransformerLens: an axis for heads, or none
    combined.form = Form::same;
    if (stored != nullptr && layout.own_names && stored->shape == combined.shape()) one = combined;
    if (stored == nullptr)
      faults.push_back(described(one.theirs, one.shape()) + " is missing");
    else if (stored->shape != one.shape())
      faults.push_back(text(described(one.theirs, stored->shape), " was expected to be ",
                            Json(one.shape()).dump(1)));
  }
  for (const auto& [name, in_file] : theirs.names) {
    if (used.contains(name)) continue;
    const bool known =
        std::ranges::any_of(kUnread, [&name = name](auto end) { return name.ends_with(end); }) ||
        (tied && (name == "lm_head.weight" || name.starts_with("unembed.")));
    (known ? unread : faults)
        .push_back(described(in_file, theirs.find(name)->shape) + (known ? "" : " has no place"));
  }
  if (!faults.empty()) refuse(layout, faults);
  return unread;
}

void read_parameter(const Theirs& theirs, const Parameter& one) {
  const std::vector<float> values = theirs.reader.floats(theirs.names.at(one.theirs));
  require(std::ranges::all_of(values, [](float v) { return v - v == 0; }), one.theirs,
          " holds numbers that are not finite");
  one.for_each([&](Scalar& ours, Index at) { ours = static_cast<Scalar>(values[at]); });
}

/// Error if config.json promises more weights than the file holds: nothing is made as large as
/// that.
void check_size(const TransformerConfig& config, const TensorReader& reader) {
  double held = 0;
  for (const StoredTensor& tensor : reader.header().tensors)
    held += static_cast<double>(tensor.count());
  const double asked = config.block_weights() + static_cast<double>(config.vocab * config.d_model);
  require(config.attention.size() > 0 || asked <= held, "config.json asks for ", asked,
          " weights, but the file holds ", held);
}

void write_tensors(const Transformer& model, const Layout& layout, const fs::path& path) {
  TensorFile file;
  file.metadata["format"] = "pt";
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<float>> values;
  for (const Parameter& one : parameters_of(layout, model, layout.halves)) {
    if (one.theirs.empty()) {
      require(std::ranges::count(one.values.values(), Scalar(0)) == one.values.count(),
              "the layout ", layout.name, " has no ", one.name, ", and here it is not 0");
      continue;
    }
    const auto [at, is_new] = places.emplace(one.theirs, values.size());
    if (is_new) values.emplace_back(one.values.count() * one.parts);
    std::vector<float>& stored = values[at->second];
    one.for_each([&](Scalar& ours, Index to) { stored[to] = static_cast<float>(ours); });
    if (is_new) file.tensors.push_back({one.theirs, "F32", one.shape(), {}});
  }
  if (model.config().tied && layout.tied != nullptr) values.push_back(tied_of(model, layout, file));
  std::vector<std::string_view> views;
  for (const std::vector<float>& one : values)
    views.emplace_back(reinterpret_cast<const char*>(one.data()), one.size() * sizeof(float));
  make_directories(path.parent_path());
  write_safetensors(path, file, views);
}

void write_arrays(const Transformer& model, const fs::path& path) {
  std::vector<std::pair<std::string, std::string>> files;
  model.visit([&](const std::string& name, const Tensor& values) {
    const std::vector<float> floats(values.values().begin(), values.values().end());
    files.emplace_back(name, npy_bytes({values.shape().begin(), values.shape().end()}, floats));
  });
  make_directories(path.parent_path());
  write_npz(path, files);
}

}  // namespace

std::vector<LayoutName> layouts() {
  return mapped(kLayouts, [](const Layout& one) { return LayoutName{one.name, one.python}; });
}

std::vector<LayoutName> exports() {
  std::vector<LayoutName> names = layouts();
  names.push_back({kArrays,
                   "import numpy\n"
                   "weights = numpy.load('OUT/model.npz')\n"
                   "W_E = weights['embed.W_E']  # and so on: weights.files are the names"});
  return names;
}

ImportedModel import_model(const fs::path& path) {
  const fs::path config_file = (fs::is_directory(path) ? path : path.parent_path()) / "config.json";
  if (!is_there(config_file))
    throw Error(text("there is no ", config_file.string()),
                "it holds the number of heads and other sizes, under the names of the layout");
  const Json json = Json::parse(read_file(config_file), config_file.string());
  const auto layout = std::ranges::find_if(kLayouts, [&](const Layout& one) {
    return json.is_object() && json.find(one.known_by);
  });
  if (layout == kLayouts.end())
    throw Error(text(config_file.string(), " is of no layout that headlab knows"),
                text("they are known by a key: ", join(texts_of(kLayouts,
                                                                [](const Layout& one) {
                                                                  return text(one.known_by, " (",
                                                                              one.name, ")");
                                                                }),
                                                       ", ")));
  return in_context(path.string(), [&] {
    const Theirs theirs(path, *layout);
    const bool biases = std::ranges::any_of(theirs.names, [](const auto& name) {
      return name.first.ends_with(".bias") || name.first.find(".b_") != std::string::npos;
    });
    const TransformerConfig config = config_of(*layout, json, biases);
    check_size(config, theirs.reader);
    ImportedModel imported{Transformer(config), layout->name, {}, {}};
    const bool neighbours = value_at(json, "rotary_adjacent_pairs") == Json(true);
    auto parameters = parameters_of(*layout, imported.model, layout->halves && !neighbours);
    imported.unread = check(*layout, theirs, parameters, config.tied);
    for (const Parameter& one : parameters) {
      if (one.theirs.empty())
        imported.unset.push_back(one.name);
      else
        read_parameter(theirs, one);
    }
    return imported;
  });
}

void export_model(const Transformer& model, std::string_view name, const fs::path& folder) {
  require(!is_there(folder) || fs::is_empty(folder), folder.string(),
          " is not empty: name a new folder");
  const bool arrays = name == kArrays;
  TransformerConfig config = model.config();
  const Json json = arrays ? settings_of(config).to_json() : json_of(layout_named(name), config);
  if (arrays)
    write_arrays(model, folder / "model.npz");
  else
    write_tensors(model, layout_named(name), folder / "model.safetensors");
  write_file(folder / "config.json", json.dump(2) + "\n");
}

}}  // namespace headlab
