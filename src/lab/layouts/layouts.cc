// Import and export of models. Import reads config.json, compares the tensors of the file with the
// required ones, and only then copies numbers; export copies them the other way.
// Read next: layout_table.h; layout_tensors.h, the position of each number.
#include "headlab/lab/layouts/layouts.h"

#include <algorithm>
#include <functional>
#include <map>

#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/safetensors.h"
#include "lab/layouts/layout_tensors.h"
#include "lab/results/npy.h"
#include "lab/results/npz.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

namespace fs = std::filesystem;

constexpr const char* kArrays = "npz";

const ModelLayout& layout_named(std::string_view name) {
  return named("layout", name, kLayouts, &ModelLayout::name);
}

/// Returns the error for a config.json of none of the layouts: it names its family if it has one.
Error unknown_family(const Json& type, const fs::path& config_file) {
  std::vector<std::string> families, keys;
  for (const ModelLayout& layout : kLayouts) {
    keys.push_back(text(layout.known_by, " (", layout.name, ")"));
    for (const Family& family : layout.families) families.emplace_back(family.model_type);
  }
  const std::string file = text("cannot import ", config_file.string(), ": ");
  const std::string read = text("read are ", join(families, ", "));
  if (type.is_string()) {
    return Error(text(file, "model_type ", type.string(), " is not read; ", read),
                 "name a model of one of these families");
  }
  return Error(text(file, "headlab knows no layout with its keys; ", read,
                    ", and models with one of the keys ", join(keys, ", ")),
               "name the folder of a model in one of these layouts");
}

/// Returns the layout whose key config.json has, or whose family it names.
const ModelLayout& layout_of(const Json& json, const fs::path& config_file) {
  const Json type = json.is_object() ? value_at(json, "model_type") : Json();
  const auto has_key = [&](const ModelLayout& one) { return json.find(one.known_by) != nullptr; };
  const auto has_family = [&](const ModelLayout& one) {
    return std::ranges::any_of(one.families, [&](const Family& family) {
      return type == Json(family.model_type);
    });
  };
  auto found = kLayouts.end();
  if (json.is_object()) found = std::ranges::find_if(kLayouts, has_family);
  if (json.is_object() && found == kLayouts.end()) found = std::ranges::find_if(kLayouts, has_key);
  if (found == kLayouts.end()) {
    throw unknown_family(type, config_file);
  }
  return *found;
}

void read_parameter(const StoredModel& theirs, const Parameter& one) {
  const std::vector<float> values = theirs.floats(one.theirs);
  require(std::ranges::all_of(values, [](float v) { return v - v == 0; }), one.theirs,
          " holds numbers that are not finite");
  require(!one.must_be_zero || std::ranges::count(values, 0.0F) == std::ssize(values), one.theirs,
          " is not 0: this layout adds it at another place than headlab does");
  one.for_each([&](Scalar& ours, Index at) { ours = static_cast<Scalar>(values[at]); });
}

/// Throws an Error if config.json promises more weights than the file holds: memory is only asked
/// for what is there.
void check_size(const TransformerConfig& config, const StoredModel& theirs) {
  const double held = theirs.count();
  const double asked = config.block_weights() + static_cast<double>(config.vocab * config.d_model);
  require(config.attention.size() > 0 || asked <= held, "config.json asks for ", asked,
          " weights, but the file holds ", held);
}

bool is_zero(const Parameter& one) {
  return std::ranges::count(one.values.values(), Scalar(0)) == one.values.count();
}

/// Returns the parameters that a file of the layout holds. Error for one that it cannot hold.
std::vector<Parameter> written_parameters(const ModelLayout& layout, const Transformer& model,
                                          const Description& about) {
  std::vector<Parameter> written;
  for (const Parameter& one : parameters_of(layout, model, about)) {
    require(!one.theirs.empty() || is_zero(one), "cannot export: the layout ", layout.name,
            " has no ", one.name, ", and here it is not 0");
    require(!one.must_be_zero || is_zero(one), "cannot export: the layout ", layout.name,
            " means another thing by ", one.name, ", and here it is not 0");
    const bool is_foreign = one.must_be_zero && one.name.ends_with(".b_gate");
    if (!one.theirs.empty() && !is_foreign) written.push_back(one);
  }
  const bool is_repeated = model.config().tied && layout.repeats_tied;
  if (is_repeated) written.push_back(repeated_embedding(layout, model));
  return written;
}

void write_tensors(const ModelLayout& layout, const Transformer& model, const Description& about,
                   const fs::path& path) {
  TensorFile file;
  file.metadata["format"] = "pt";
  std::map<std::string, std::size_t> places;
  std::vector<std::vector<float>> values;
  for (const Parameter& one : written_parameters(layout, model, about)) {
    const auto [at, is_new] = places.emplace(one.theirs, values.size());
    if (is_new) values.emplace_back(one.values.count() * one.parts);
    std::vector<float>& stored = values[at->second];
    one.for_each([&](Scalar& ours, Index to) { stored[to] = static_cast<float>(ours); });
    if (is_new) file.tensors.push_back({one.theirs, "F32", one.shape(), {}});
  }
  std::vector<std::string_view> views;
  for (const std::vector<float>& one : values) {
    views.emplace_back(reinterpret_cast<const char*>(one.data()), one.size() * sizeof(float));
  }
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

constexpr const char* kSettingsFile = "config.json";  // of an export, written before the weights

/// Returns whether a file may be left over from an export that was killed while it wrote.
bool is_unfinished(const fs::path& file) {
  const std::string name = temporary_target(file);
  return is_temporary(file) &&
         (name == kSettingsFile || name == "model.safetensors" || name == "model.npz");
}

/// Throws an Error unless an export may be written to a folder: it is not there, or empty, or holds
/// only what the same export leaves that dies before it is finished.
void require_free(const fs::path& folder, const std::string& settings) {
  std::error_code failed;
  if (!is_there(folder)) return;
  if (!fs::is_directory(folder, failed)) {
    throw Error(text("cannot export to '", folder.string(), "': it is not a folder"),
                "name a new folder");
  }
  std::vector<fs::path> left;
  for (fs::directory_iterator at(folder, failed), end; !failed && at != end; at.increment(failed)) {
    const fs::path file = at->path();
    const bool same = file.filename() == kSettingsFile && read_file(file) == settings;
    if (!same && !is_unfinished(file)) {
      throw Error(text("cannot export to '", folder.string(), "': it is not empty"),
                  "name a new folder");
    }
    if (!same) left.push_back(file);
  }
  require(!failed, "cannot read the folder '", folder.string(), "': ", failed.message());
  for (const fs::path& file : left) remove_quietly(file);
}

/// Writes the file with the weights. A failure leaves no such file, not even one that was written
/// but perhaps not kept by the disk: the same command can be repeated.
void write_weights(const fs::path& file, const std::function<void()>& write) {
  try {
    write();
  } catch (const Error&) {
    remove_quietly(file);
    throw;
  }
}

/// Makes the folder of an export and writes its settings, so that an export that dies afterwards
/// can be distinguished from another folder.
void begin_export(const fs::path& folder, const std::string& settings) {
  require_free(folder, settings);
  make_directories(folder);
  write_file(folder / kSettingsFile, settings);
}

}  // namespace

std::vector<LayoutName> layouts() {
  return mapped(kLayouts, [](const ModelLayout& one) {
    return LayoutName{one.name, one.python, one.remark};
  });
}

std::vector<LayoutName> exports() {
  std::vector<LayoutName> names = layouts();
  names.push_back({kArrays,
                   "import numpy\n"
                   "weights = numpy.load('OUT/model.npz')\n"
                   "W_E = weights['embed.W_E']  # and so on: weights.files are the names",
                   ""});
  return names;
}

ImportedModel import_model(const fs::path& path, const std::vector<std::string>& ignored) {
  const fs::path config_file = (fs::is_directory(path) ? path : path.parent_path()) / "config.json";
  if (!is_there(path)) {
    throw Error(text("cannot import ", path.string(), ": there is no such folder or file"),
                "name the folder that holds config.json and model.safetensors");
  }
  if (!is_there(config_file)) {
    throw Error(
        text("cannot import ", path.string(), ": ", config_file.string(), " is missing"),
        "add it: it holds the number of heads and other sizes, under the names of the layout");
  }
  const Json json = Json::parse(read_file(config_file), config_file.string());
  const ModelLayout& layout = layout_of(json, config_file);
  StoredModel theirs =
      in_context(text("cannot import ", path.string()), [&] { return StoredModel(path, layout); });
  Description about = in_context(text("cannot import ", config_file.string()), [&] {
    return description_of(layout, json, theirs.has_biases(), ignored);
  });
  return in_context(text("cannot import ", path.string()), [&] {
    theirs.settle_tied(about);
    check_size(about.config, theirs);
    ImportedModel imported{Transformer(about.config), layout.name, {}, {}};
    auto parameters = parameters_of(layout, imported.model, about);
    imported.unread = theirs.check(parameters);
    for (const Parameter& one : parameters) {
      if (one.theirs.empty()) {
        imported.unset.push_back(one.name);
      } else {
        read_parameter(theirs, one);
      }
    }
    return imported;
  });
}

void export_model(const Transformer& model, std::string_view name, const fs::path& folder) {
  const bool arrays = name == kArrays;
  TransformerConfig config = model.config();
  if (arrays) {
    begin_export(folder, settings_of(config).to_json().dump(2) + "\n");
    const fs::path file = folder / "model.npz";
    write_weights(file, [&] { write_arrays(model, file); });
    return;
  }
  const ModelLayout& layout = layout_named(name);
  const Json json = json_of(layout, config);
  const Description about = description_of(layout, json, config.biases);
  begin_export(folder, json.dump(2) + "\n");
  const fs::path file = folder / "model.safetensors";
  write_weights(file, [&] { write_tensors(layout, model, about, file); });
}

}}  // namespace headlab
