// The rows of the table of layouts, from the sources of transformers (modeling_gpt2.py,
// modeling_llama.py), TransformerLens (components and loading_from_pretrained.py) and nanoGPT
// (model.py). Read next: layouts.cc.
#include "layouts/layout_table.h"

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

constexpr Place kLlamaPlaces[] = {
    {"embed.W_E", "embed_tokens.weight"},
    {"blocks.*.ln1.w", "layers.*.input_layernorm.weight"},
    {"blocks.*.attn.W_Q", "layers.*.self_attn.q_proj.weight", Form::linear},
    {"blocks.*.attn.W_K", "layers.*.self_attn.k_proj.weight", Form::linear},
    {"blocks.*.attn.W_V", "layers.*.self_attn.v_proj.weight", Form::linear},
    {"blocks.*.attn.W_O", "layers.*.self_attn.o_proj.weight", Form::linear},
    {"blocks.*.ln2.w", "layers.*.post_attention_layernorm.weight"},
    {"blocks.*.mlp.W_in", "layers.*.mlp.up_proj.weight", Form::linear},
    {"blocks.*.mlp.W_gate", "layers.*.mlp.gate_proj.weight", Form::linear},
    {"blocks.*.mlp.W_out", "layers.*.mlp.down_proj.weight", Form::linear},
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

constexpr NamedSetting kGpt2Keys[] = {{"n_layer", "layers"},
                                      {"n_head", "heads"},
                                      {"n_embd", "d_model"},
                                      {"n_inner", "d_ff"},
                                      {"n_positions", "length"},
                                      {"vocab_size", "vocab"},
                                      {"activation_function", "activation"},
                                      {"layer_norm_epsilon", "norm_eps"},
                                      {"tie_word_embeddings", "tied"},
                                      {"scale_attn_weights", nullptr, "true"},
                                      {"scale_attn_by_inverse_layer_idx", nullptr, "false"},
                                      {"add_cross_attention", nullptr, "false"}};

constexpr NamedSetting kNanoKeys[] = {{"n_layer", "layers"},   {"n_head", "heads"},
                                      {"n_embd", "d_model"},   {"block_size", "length"},
                                      {"vocab_size", "vocab"}, {"bias", "biases"}};

constexpr NamedSetting kLlamaKeys[] = {{"num_hidden_layers", "layers"},
                                       {"num_attention_heads", "heads"},
                                       {"hidden_size", "d_model"},
                                       {"intermediate_size", "d_ff"},
                                       {"head_dim", "d_head"},
                                       {"num_key_value_heads", "kv_heads"},
                                       {"max_position_embeddings", "length"},
                                       {"vocab_size", "vocab"},
                                       {"hidden_act", "activation"},
                                       {"rms_norm_eps", "norm_eps"},
                                       {"rope_theta", "rotary_base"},
                                       {"rope_parameters.rope_theta", "rotary_base"},
                                       {"tie_word_embeddings", "tied"},
                                       {"rope_parameters.rope_type", nullptr, R"("default")"},
                                       {"rope_scaling", nullptr, "null"},
                                       {"sliding_window", nullptr, "null"},
                                       {"attention_bias", nullptr, "false"},
                                       {"mlp_bias", nullptr, "false"}};

constexpr NamedSetting kTransformerLensKeys[] = {{"n_layers", "layers"},
                                                 {"n_heads", "heads"},
                                                 {"d_model", "d_model"},
                                                 {"d_head", "d_head"},
                                                 {"d_mlp", "d_ff"},
                                                 {"n_ctx", "length"},
                                                 {"d_vocab", "vocab"},
                                                 {"act_fn", "activation"},
                                                 {"normalization_type", "norm"},
                                                 {"eps", "norm_eps"},
                                                 {"positional_embedding_type", "positions"},
                                                 {"rotary_base", "rotary_base"},
                                                 {"n_key_value_heads", "kv_heads"},
                                                 {"tie_word_embeddings", "tied"},
                                                 {"attention_dir", nullptr, R"("causal")"},
                                                 {"use_attn_scale", nullptr, "true"},
                                                 {"use_local_attn", nullptr, "false"},
                                                 {"parallel_attn_mlp", nullptr, "false"},
                                                 {"post_embedding_ln", nullptr, "false"}};

constexpr Layout kLayoutTable[] = {
    {.name = "huggingface-gpt2",
     .known_by = "n_positions",
     .settings = "activation=gelu tied=true",
     .keys = kGpt2Keys,
     .places = kGpt2Places,
     .prefix = "transformer.",
     .also = R"({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]})",
     .python = "from transformers import GPT2LMHeadModel\n"
               "model = GPT2LMHeadModel.from_pretrained('OUT')\n"
               "logits = model(tokens).logits"},
    {.name = "huggingface-llama",
     .known_by = "rms_norm_eps",
     .settings = "norm=rms positions=rotary activation=swiglu biases=off",
     .keys = kLlamaKeys,
     .places = kLlamaPlaces,
     .prefix = "model.",
     .linear = Form::transposed,
     .halves = true,
     .also = R"({"model_type": "llama", "architectures": ["LlamaForCausalLM"]})",
     .python = "from transformers import LlamaForCausalLM\n"
               "model = LlamaForCausalLM.from_pretrained('OUT')\n"
               "logits = model(tokens).logits"},
    {.name = "transformerlens",
     .known_by = "d_vocab",
     .settings = "",
     .keys = kTransformerLensKeys,
     .places = kTransformerLensPlaces,
     .halves = true,
     .own_names = true,
     .has_network = false,
     .tied = "unembed.W_U",
     .python = "import json\n"
               "from safetensors.torch import load_file\n"
               "from transformer_lens import HookedTransformer, HookedTransformerConfig\n"
               "config = HookedTransformerConfig(**json.load(open('OUT/config.json')))\n"
               "model = HookedTransformer(config)\n"
               "model.load_and_process_state_dict(load_file('OUT/model.safetensors'))\n"
               "logits = model(tokens)"},
    {.name = "nanogpt",
     .known_by = "block_size",
     .settings = "activation=gelu_erf tied=true",
     .keys = kNanoKeys,
     .places = kGpt2Places,
     .prefix = "transformer.",
     .linear = Form::transposed,
     .tied = "lm_head.weight",
     .python = "import json\n"
               "from safetensors.torch import load_file\n"
               "from model import GPT, GPTConfig  # nanoGPT's model.py\n"
               "model = GPT(GPTConfig(**json.load(open('OUT/config.json'))))\n"
               "model.load_state_dict(load_file('OUT/model.safetensors'))\n"
               "logits = model(tokens, tokens)[0]"}};

constexpr Word kWordTable[] = {{"activation", "gelu_new", "gelu"},
                               {"activation", "gelu_pytorch_tanh", "gelu"},
                               {"activation", "gelu", "gelu_erf"},
                               {"activation", "relu", "relu"},
                               {"activation", "silu", "swiglu"},
                               {"norm", "LN", "layer"},
                               {"norm", "RMS", "rms"},
                               {"positions", "standard", "learned"},
                               {"positions", "rotary", "rotary"},
                               {"biases", "true", "on"},
                               {"biases", "false", "off"}};

constexpr std::string_view kUnreadTable[] = {".attn.bias",         ".attn.masked_bias",
                                             ".attn.mask",         ".attn.IGNORE",
                                             ".attn.rotary_sin",   ".attn.rotary_cos",
                                             "rotary_emb.inv_freq"};

}  // namespace

const std::span<const Layout> kLayouts = kLayoutTable;
const std::span<const Word> kWords = kWordTable;
const std::span<const std::string_view> kUnread = kUnreadTable;

}}  // namespace headlab
