// The rows of the table of layouts: where the parameters are, and what Python loads them. From the
// sources of transformers (modeling_gpt2.py, modeling_llama.py and relatives), TransformerLens
// (components and loading_from_pretrained.py) and nanoGPT (model.py).
// Read next: layout_keys.cc, the keys of config.json; layouts.cc.
#include "lab/layouts/layout_table.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

constexpr Place kGpt2Places[] = {
    {"embed.W_E", "wte.weight"},
    {"pos_embed.W_pos", "wpe.weight"},
    {"blocks.*.ln1.w", "h.*.ln_1.weight"},
    {"blocks.*.ln1.b", "h.*.ln_1.bias"},
    {"blocks.*.attn.W_Q", "h.*.attn.c_attn.weight", Form::linear, 0, 3},
    {"blocks.*.attn.b_Q", "h.*.attn.c_attn.bias", Form::same, 0, 3},
    {"blocks.*.attn.W_K", "h.*.attn.c_attn.weight", Form::linear, 1, 3},
    {"blocks.*.attn.b_K", "h.*.attn.c_attn.bias", Form::same, 1, 3},
    {"blocks.*.attn.W_V", "h.*.attn.c_attn.weight", Form::linear, 2, 3},
    {"blocks.*.attn.b_V", "h.*.attn.c_attn.bias", Form::same, 2, 3},
    {"blocks.*.attn.W_O", "h.*.attn.c_proj.weight", Form::linear},
    {"blocks.*.attn.b_O", "h.*.attn.c_proj.bias"},
    {"blocks.*.ln2.w", "h.*.ln_2.weight"},
    {"blocks.*.ln2.b", "h.*.ln_2.bias"},
    {"blocks.*.mlp.W_in", "h.*.mlp.c_fc.weight", Form::linear},
    {"blocks.*.mlp.b_in", "h.*.mlp.c_fc.bias"},
    {"blocks.*.mlp.W_out", "h.*.mlp.c_proj.weight", Form::linear},
    {"blocks.*.mlp.b_out", "h.*.mlp.c_proj.bias"},
    {"ln_final.w", "ln_f.weight"},
    {"ln_final.b", "ln_f.bias"},
    {"unembed.W_U", "lm_head.weight", Form::transposed}};

constexpr BiasGroup kQkv = BiasGroup::query_key_value;

constexpr Place kLlamaPlaces[] = {
    {"embed.W_E", "embed_tokens.weight"},
    {"blocks.*.ln1.w", "layers.*.input_layernorm.weight"},
    {"blocks.*.attn.W_Q", "layers.*.self_attn.q_proj.weight", Form::linear},
    {"blocks.*.attn.W_K", "layers.*.self_attn.k_proj.weight", Form::linear},
    {"blocks.*.attn.W_V", "layers.*.self_attn.v_proj.weight", Form::linear},
    {"blocks.*.attn.b_Q", "layers.*.self_attn.q_proj.bias", Form::same, 0, 1, kQkv},
    {"blocks.*.attn.b_K", "layers.*.self_attn.k_proj.bias", Form::same, 0, 1, kQkv},
    {"blocks.*.attn.b_V", "layers.*.self_attn.v_proj.bias", Form::same, 0, 1, kQkv},
    {"blocks.*.attn.W_O", "layers.*.self_attn.o_proj.weight", Form::linear},
    {"blocks.*.attn.b_O", "layers.*.self_attn.o_proj.bias", Form::same, 0, 1,
     BiasGroup::attention_output},
    {"blocks.*.ln2.w", "layers.*.post_attention_layernorm.weight"},
    {"blocks.*.mlp.W_in", "layers.*.mlp.up_proj.weight", Form::linear},
    {"blocks.*.mlp.W_gate", "layers.*.mlp.gate_proj.weight", Form::linear},
    {"blocks.*.mlp.W_out", "layers.*.mlp.down_proj.weight", Form::linear},
    {"blocks.*.mlp.b_in", "layers.*.mlp.up_proj.bias", Form::same, 0, 1, BiasGroup::network},
    {"blocks.*.mlp.b_gate", "layers.*.mlp.gate_proj.bias", Form::same, 0, 1, BiasGroup::network},
    {"blocks.*.mlp.b_out", "layers.*.mlp.down_proj.bias", Form::same, 0, 1, BiasGroup::network},
    {"ln_final.w", "norm.weight"},
    {"unembed.W_U", "lm_head.weight", Form::transposed}};

constexpr Place kTransformerLensPlaces[] = {
    {"blocks.*.attn.W_Q", "blocks.*.attn.W_Q", Form::by_head},
    {"blocks.*.attn.b_Q", "blocks.*.attn.b_Q", Form::by_head},
    {"blocks.*.attn.W_K", "blocks.*.attn.W_K", Form::grouped},
    {"blocks.*.attn.b_K", "blocks.*.attn.b_K", Form::grouped},
    {"blocks.*.attn.W_V", "blocks.*.attn.W_V", Form::grouped},
    {"blocks.*.attn.b_V", "blocks.*.attn.b_V", Form::grouped},
    {"blocks.*.attn.W_O", "blocks.*.attn.W_O", Form::head_rows}};

// ---- tensors that are not read

constexpr TensorLeftOut kMask = {"mask", "headlab makes its own"};
constexpr TensorLeftOut kAngles = {"rotary table", "headlab computes its own"};

constexpr HarmlessTensor kGpt2Harmless[] = {{"h.*.attn.bias", kMask},
                                            {"h.*.attn.masked_bias", kMask}};
constexpr HarmlessTensor kLlamaHarmless[] = {{"layers.*.self_attn.rotary_emb.inv_freq", kAngles},
                                             {"rotary_emb.inv_freq", kAngles}};
constexpr HarmlessTensor kTransformerLensHarmless[] = {{"blocks.*.attn.mask", kMask},
                                                       {"blocks.*.attn.IGNORE", kMask},
                                                       {"blocks.*.attn.rotary_sin", kAngles},
                                                       {"blocks.*.attn.rotary_cos", kAngles}};

const ModelLayout kLayoutTable[] = {
    {.name = "huggingface-gpt2",
     .known_by = "n_positions",
     .settings = "activation=gelu tied=true",
     .keys = kGpt2Keys,
     .known = kGpt2Known,
     .shared = kHuggingFaceKnown,
     .places = kGpt2Places,
     .harmless = kGpt2Harmless,
     .unembedding = "lm_head.weight",
     .families = kGpt2Families,
     .prefix = "transformer.",
     .also = R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"],
                "scale_attn_weights": true, "scale_attn_by_inverse_layer_idx": false,
                "add_cross_attention": false})",
     .python = "from transformers import GPT2LMHeadModel\n"
               "model = GPT2LMHeadModel.from_pretrained('OUT')\n"
               "logits = model(tokens).logits",
     .remark = "pruned heads need transformers 4: later versions do not read pruned_heads"},
    {.name = "huggingface-llama",
     .known_by = "rms_norm_eps",
     .settings = "norm=rms positions=rotary activation=swiglu biases=off",
     .keys = kLlamaKeys,
     .known = kLlamaKnown,
     .shared = kHuggingFaceKnown,
     .places = kLlamaPlaces,
     .harmless = kLlamaHarmless,
     .unembedding = "lm_head.weight",
     .families = kLlamaFamilies,
     .prefix = "model.",
     .linear = Form::transposed,
     .halves = true,
     .biases_by_family = true,
     .also = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"],
                "rope_scaling": null})",
     .python = "from transformers import AutoModelForCausalLM\n"
               "model = AutoModelForCausalLM.from_pretrained('OUT')\n"
               "logits = model(tokens).logits"},
    {.name = "transformerlens",
     .known_by = "d_vocab",
     .settings = "",
     .keys = kTransformerLensKeys,
     .known = kTransformerLensKnown,
     .places = kTransformerLensPlaces,
     .harmless = kTransformerLensHarmless,
     .unembedding = "unembed.W_U",
     .halves = true,
     .own_names = true,
     .has_network = false,
     .repeats_tied = true,
     .also = R"({"attention_dir": "causal", "use_attn_scale": true})",
     .python = "import json\n"
               "from safetensors.torch import load_file\n"
               "from transformer_lens import HookedTransformer, HookedTransformerConfig\n"
               "config = HookedTransformerConfig(**json.load(open('OUT/config.json')))\n"
               "model = HookedTransformer(config)\n"
               "weights = load_file('OUT/model.safetensors')\n"
               "model.load_and_process_state_dict(weights, center_unembed=False)\n"
               "logits = model(tokens)",
     .remark = "without center_unembed=False, logits differ from headlab's by one number at each "
               "position; losses agree"},
    {.name = "nanogpt",
     .known_by = "block_size",
     .settings = "activation=gelu_erf tied=true",
     .keys = kNanoKeys,
     .known = kNanoKnown,
     .places = kGpt2Places,
     .harmless = kGpt2Harmless,
     .unembedding = "lm_head.weight",
     .prefix = "transformer.",
     .linear = Form::transposed,
     .repeats_tied = true,
     .python = "import json\n"
               "from safetensors.torch import load_file\n"
               "from model import GPT, GPTConfig  # nanoGPT's model.py\n"
               "model = GPT(GPTConfig(**json.load(open('OUT/config.json'))))\n"
               "model.load_state_dict(load_file('OUT/model.safetensors'))\n"
               "logits = model(tokens, tokens)[0]"}};

constexpr Word kWordTable[] = {
    {"activation", "gelu_new", "gelu"}, {"activation", "gelu_pytorch_tanh", "gelu"},
    {"activation", "gelu", "gelu_erf"}, {"activation", "relu", "relu"},
    {"activation", "silu", "swiglu"},   {"norm", "LN", "layer"},
    {"norm", "LNPre", "layer"},         {"norm", "RMS", "rms"},
    {"norm", "RMSPre", "rms"},          {"positions", "standard", "learned"},
    {"positions", "rotary", "rotary"},  {"biases", "true", "on"},
    {"biases", "false", "off"}};

}  // namespace

const std::span<const ModelLayout> kLayouts = kLayoutTable;
const std::span<const Word> kWords = kWordTable;

}}  // namespace headlab
