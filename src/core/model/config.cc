// The table of settings of a model, and the checks that they fit together. Messages state what is
// wrong and what would be right, because they are the first thing that a user of a new model reads.
// Read next: transformer.cc.
#include "headlab/core/model/config.h"

#include <algorithm>
#include <memory>

#include "headlab/core/base/error.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

/// Returns "1, 2, 4, 8 ...", the numbers of heads that divide d_model.
std::string divisors(Index d_model) {
  std::vector<std::string> found;
  for (Index h = 1; h <= d_model && found.size() < 8; ++h) {
    if (d_model % h == 0) found.push_back(std::to_string(h));
  }
  return join(found, ", ");
}

Json attention_to_json(const TransformerConfig& config) {
  Json object = Json::object();
  for (const auto& [attention_layer, heads] : config.attention) {
    object[attention_layer] = Json::object({{"heads", heads}});
  }
  return object;
}

void attention_from_json(TransformerConfig& config, const Json& json) {
  require(json.is_object(),
          "attention must be an object such as {\"blocks.0.attn\": {\"heads\": [0, 3]}}");
  config.attention.clear();
  for (const auto& [attention_layer, entry] : json.members()) {
    require(entry.is_object() && entry.members().size() == 1 && entry.find("heads") != nullptr,
            "attention.", attention_layer, " must be {\"heads\": [...]}, got ", entry.dump());
    std::vector<std::int32_t> heads;
    for (const Json& head : entry.at("heads").items()) {
      const std::int64_t number = head.integer();
      require(number >= 0 && number < 4096, "cannot build the model: attention.", attention_layer,
              ": head ", number, " must be from 0 to 4095");
      heads.push_back(static_cast<std::int32_t>(number));
    }
    config.attention.emplace_back(attention_layer, std::move(heads));
  }
}

/// Adds numbers by layer. They are joined by +, because a comma separates the values of a sweep.
void add_by_layer(Settings& s, const std::string& name, std::vector<Index>& values, Index most,
                  const char* help) {
  Settings numbers;
  numbers.integers(name, values, 0, most, help);
  Setting setting = *numbers.find(name);
  setting.separator = '+';
  setting.set = [name, set = setting.set](const Json& json) {
    const std::string given = json.is_string() ? json.string() : "";
    if (given.find(',') != given.npos && !given.starts_with('[')) {
      std::string layers = given;
      std::ranges::replace(layers, ',', '+');
      throw Error(text(name, " must have no comma, which separates the values of a sweep, got ",
                       given),
                  text("join the ", name, " of several layers by +: ", layers));
    }
    set(json);
  };
  s.add(std::move(setting));
}

/// Adds a choice among the rows of a table.
template <class Enum, class Kind>
void add_kind(Settings& s, const std::string& name, Enum& value, std::span<const Kind> kinds,
              const std::string& help) {
  s.choice(name, value, texts_of(kinds, &Kind::name), help);
}

constexpr BlockKind kBlockTable[] = {
    {"original", "Vaswani et al. 2017",
     "norm=layer norm_place=post positions=sinusoidal activation=relu biases=on"},
    {"gpt2", "Radford et al. 2019",
     "norm=layer norm_place=pre positions=learned activation=gelu biases=on"},
    {"llama", "Touvron et al. 2023",
     "norm=rms norm_place=pre positions=rotary activation=swiglu biases=off"},
};

/// Adds `block`, which sets several settings of `s` together.
void add_block(Settings& s) {
  const auto names = texts_of(kBlocks, &BlockKind::name);
  const auto set = [table = std::make_shared<const Settings>(s), names](const Json& json) {
    const std::string given = json.is_string() ? json.string() : json.dump();
    const auto found = std::ranges::find(names, given);
    if (found == names.end()) throw unknown_name("block", given, names);
    table->set_all_text(kBlocks[found - names.begin()].settings);
  };
  s.add({.name = "block",
         .placeholder = "",
         .help = "sets norm, norm_place, positions, activation and biases",
         .set = set,
         .get = [] { return Json(""); },
         .shorthand = true,
         .choices = names});
}

/// Adds a setting that files name only if it differs from its usual value.
void add_rare(Settings& s, const Settings& one, Json usual) {
  Setting rare = one.all().front();
  rare.get = [get = rare.get, usual = std::move(usual)] {
    const Json value = get();
    return value == usual ? Json() : value;
  };
  s.add(std::move(rare));
}

/// Adds the attention function. Files of models with softmax omit it, as they did before there was
/// a choice.
void add_attention_function(Settings& s, AttentionFunction& value) {
  Settings one;
  add_kind(one, "attention_function", value, attention_functions(), "how scores become weights");
  Setting setting = one.all().front();
  setting.usual = "softmax";
  s.add(std::move(setting));
}

/// Adds the settings that the task decides. Files of models that read tokens omit `features`.
void add_shape(Settings& s, TransformerConfig& c) {
  s.integer("vocab", c.vocab, 1, 1 << 24, "number of tokens");
  s.integer("length", c.length, 1, 1 << 20, "longest sequence");
  s.integer("source_length", c.source_length, 0, 1 << 20, "longest source (0: no sources)");
  Settings one;
  one.integer("features", c.features, 0, 1 << 16, "width of input vectors that replace tokens");
  add_rare(s, one, 0);
  s.integer("targets", c.targets, 1, 1024, "targets predicted at each position");
  Settings answers;
  answers.integer("answers", c.answers, 0, 1 << 24, "outputs of each target (0: one per token)");
  add_rare(s, answers, 0);
}

/// Checks the heads of one layer against the other sizes.
void validate_heads(const TransformerConfig& c, Index layer) {
  const Index heads = c.heads_of(layer);
  if (heads == 0) return;
  if (c.d_head == 0 && c.d_model % heads != 0) {
    throw Error(text("cannot build the model: d_model ", c.d_model, " is not divisible by heads ",
                     heads),
                text("set d_head, or use ", divisors(c.d_model), " ... heads"));
  }
  require(c.kv_heads <= heads && (c.kv_heads == 0 || heads % c.kv_heads == 0),
          "cannot build the model: heads ", heads, " do not divide into kv_heads ", c.kv_heads,
          " groups");
  const PositionKind& kind = kind_of(c.positions);
  require(c.d_head_of(layer) % kind.head_multiple == 0, "cannot build the model: ", kind.name,
          " positions need heads of a width that divides by ", kind.head_multiple, ", got ",
          c.d_head_of(layer));
}

void validate_attention(const TransformerConfig& c) {
  const std::vector<AttentionSlot> slots = c.attention_slots();
  for (const auto& [attention_layer, kept] : c.attention) {
    const auto slot =
        std::find_if(slots.begin(), slots.end(),
                     [&name = attention_layer](const auto& p) { return p.name == name; });
    require(slot != slots.end(), "cannot build the model: there is no attention layer ",
            attention_layer, " in a model of ", c.all_layers(), " layers");
    const Index original = c.heads_of(slot->layer);
    for (std::int32_t head : kept) {
      require(head < original, "cannot build the model: attention.", attention_layer,
              " keeps head ", head, " but was created with ", original, " heads");
      require(std::count(kept.begin(), kept.end(), head) == 1, "cannot build the model: attention.",
              attention_layer, " names head ", head, " twice");
    }
  }
}

/// Checks the settings that only an encoder-decoder has.
void validate_source(const TransformerConfig& c) {
  if (!c.has_source() && (c.encoder_layers != 0 || c.source_length != 0)) {
    throw Error(text("cannot build the model: encoder_layers ", c.encoder_layers,
                     " and source_length ", c.source_length,
                     " must be 0 unless architecture is encoder_decoder"),
                "set `layers`, or take a task with sources, such as reverse_cross");
  }
  require(!c.has_source() || c.source_length >= 1,
          "cannot build the model: architecture encoder_decoder needs source_length 1 or more");
  const BlockWiring& wiring = kind_of(c.norm_place);
  if (c.has_source() && !wiring.has_cross) {
    throw Error(text("cannot use norm_place ", wiring.name, " in an encoder-decoder: it is not ",
                     "defined for blocks with cross-attention"),
                "use norm_place pre, or a task without sources");
  }
}

}  // namespace

const std::span<const BlockKind> kBlocks = kBlockTable;

bool TaskShape::serves(const TaskShape& task) const {
  TaskShape longer = task;
  longer.length = std::max(length, task.length);
  longer.source_length = std::max(source_length, task.source_length);
  return longer == *this;
}

Index TaskShape::at_once(Index most, Index length_) const {
  constexpr Index kMostLogits = 1 << 26;
  return std::clamp<Index>(kMostLogits / (length_ * targets * outputs()), 1, most);
}

std::vector<AttentionSlot> TransformerConfig::attention_slots() const {
  std::vector<AttentionSlot> slots;
  const auto add = [&](const Sublayer& part, AttentionKind kind, Index layer) {
    const Index each = d_head_of(layer) + d_value_of(layer), original = heads_of(layer);
    slots.push_back({part, name_of(part), kind, layer,
                     kind == AttentionKind::encoder ? source_length : length,
                     kind == AttentionKind::self ? length : source_length, original * each,
                     (kv_heads > 0 ? std::min(kv_heads, original) : original) * each,
                     kind == AttentionKind::self && architecture != Architecture::encoder,
                     kind == AttentionKind::cross ? 0 : window_of(layer)});
  };
  for (Index layer = 0; layer < encoder_layers; ++layer) {
    add({"encoder.", layer, Sublayer::attn}, AttentionKind::encoder, layer);
  }
  for (Index layer = 0; layer < layers; ++layer) {
    Sublayer part{has_source() ? "decoder." : "", layer, Sublayer::attn};
    add(part, AttentionKind::self, encoder_layers + layer);
    part.kind = Sublayer::cross_attn;
    if (has_source()) add(part, AttentionKind::cross, encoder_layers + layer);
  }
  return slots;
}

Index TransformerConfig::window_of(Index layer) const {
  return window.size() == 1 ? window[0] : window[layer];
}

Index TransformerConfig::heads_of(Index layer) const {
  return heads.size() == 1 ? heads[0] : heads[layer];
}

Index TransformerConfig::d_head_of(Index layer) const {
  const Index count = heads_of(layer);
  if (d_head > 0) return d_head;
  return count > 0 ? d_model / count : 0;
}

Index TransformerConfig::d_value_of(Index layer) const {
  return d_value > 0 ? d_value : d_head_of(layer);
}

double TransformerConfig::block_weights() const {
  auto sum = static_cast<double>(kind_of(activation).matrices * d_ff * all_layers());
  for (const AttentionSlot& slot : attention_slots()) {
    sum += static_cast<double>(slot.width + slot.key_width);
  }
  return static_cast<double>(d_model) * sum;
}

double TransformerConfig::operations() const {
  Index products = d_model * outputs() * targets * length;
  for (const AttentionSlot& slot : attention_slots()) {
    const Index network = slot.begins_block() ? kind_of(activation).matrices * d_ff : 0;
    products += d_model * (slot.queries * (slot.width + network) + slot.keys * slot.key_width);
    products += slot.width * slot.queries * slot.keys;
  }
  return 2 * static_cast<double>(products);
}

void TransformerConfig::validate() const {
  validate_source(*this);
  for (const auto& [name, values] : {std::pair("heads", &heads), std::pair("window", &window)}) {
    require(values->size() == 1 || std::ssize(*values) == all_layers(),
            "cannot build the model: ", name, " names ", values->size(), " layers, but ",
            has_source() ? "encoder_layers + " : "", "layers is ", all_layers());
  }
  for (Index layer = 0; layer < all_layers(); ++layer) validate_heads(*this, layer);
  require(!tied || targets == 1, "cannot build the model: tied needs targets 1, got ", targets,
          ": one embedding cannot unembed several targets");
  require(!tied || answers == 0,
          "cannot build the model: tied needs outputs that are tokens, but the model has ", answers,
          " answers of its own for a vocabulary of ", vocab);
  require(features == 0 || (!tied && !has_source()),
          "cannot build the model: vectors instead of tokens need a model that is not tied and "
          "reads no source");
  const PositionKind& kind = kind_of(positions);
  require(d_model % kind.multiple == 0, "cannot build the model: ", kind.name,
          " positions need a d_model that divides by ", kind.multiple, ", got ", d_model);
  const double logits = static_cast<double>(targets) * static_cast<double>(outputs());
  require(logits * static_cast<double>(d_model) < 4e9, "cannot build the model: an unembedding of ",
          targets, " x ", outputs(), " x ", d_model, " does not fit into memory");
  require(block_weights() < 2e9, "cannot build the model: ", layers, " layers with d_model ",
          d_model, " hold ", block_weights(), " weights, which do not fit into memory");
  validate_attention(*this);
}

Settings settings_of(TransformerConfig& c) {
  Settings s;
  s.choice("architecture", c.architecture, {"decoder", "encoder", "encoder_decoder"},
           "causal, bidirectional, or both with cross-attention");
  s.integer("layers", c.layers, 0, 1000, "blocks of attention and feed-forward");
  s.integer("encoder_layers", c.encoder_layers, 0, 1000, "blocks of the encoder, if there is one");
  add_by_layer(s, "heads", c.heads, 4096, "attention heads in each layer, or layer by layer");
  s.integer("d_model", c.d_model, 1, 65536, "width of the residual stream");
  s.integer("d_head", c.d_head, 0, 65536, "width of queries and keys (0: d_model / heads)");
  s.integer("d_value", c.d_value, 0, 65536, "width of values (0: d_head)");
  s.integer("kv_heads", c.kv_heads, 0, 4096, "key-value heads, shared by heads (0: one each)");
  s.integer("d_ff", c.d_ff, 0, 1 << 20, "width of the feed-forward network (0: none)");
  add_shape(s, c);
  add_kind(s, "activation", c.activation, kActivations, "activation function");
  add_attention_function(s, c.attention_function);
  add_kind(s, "norm_place", c.norm_place, block_wirings(), "how a block joins norms and sublayers");
  add_kind(s, "norm", c.norm, kNorms, "kind of norm");
  Settings eps;
  eps.real("norm_eps", c.norm_eps, 1e-12, 1, "added to the variance in norms");
  add_rare(s, eps, TransformerConfig().norm_eps);
  add_kind(s, "positions", c.positions, kPositions, "kind of position encoding");
  s.real("rotary_base", c.rotary_base, 1.001, 1e12, "pair i of D/2 rotates by base^(-2i/D)");
  s.choice("biases", c.biases, {"off", "on"}, "biases of linear maps and norms");
  add_by_layer(s, "window", c.window, 1 << 20, "nearest positions that a query sees (0: all)");
  add_block(s);
  s.boolean("tied", c.tied, "unembed with the transpose of the embedding");
  s.real("dropout", c.dropout, 0, 0.95, "dropout probability");
  s.choice("init", c.init, {"uniform", "gpt2"}, "recipe of the initial values");
  s.add({"attention", "JSON", "heads left in pruned attention layers (written by prune)",
         [&c](const Json& json) { attention_from_json(c, json); },
         [&c] { return attention_to_json(c); }});
  s.mark_decided({"architecture", "vocab", "length", "source_length", "features", "targets",
                  "answers", "attention", "norm_eps"});
  return s;
}

}}  // namespace headlab
