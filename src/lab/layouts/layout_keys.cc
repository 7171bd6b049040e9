// The keys of config.json that headlab knows, layout by layout: those that are settings of ours,
// and all others with the reason why they may be there. A key without a row is refused, because it
// may change what the model computes. From the sources of transformers (configuration_utils.py and
// the configuration files of the families), TransformerLens (HookedTransformerConfig), nanoGPT and
// minGPT (model.py).
#include <cmath>

#include "lab/layouts/layout_table.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

using enum KeyUse;

// ---- keys that are settings

constexpr NamedSetting kGpt2Table[] = {{"n_layer", "layers"},
                                       {"n_head", "heads"},
                                       {"n_embd", "d_model"},
                                       {"n_inner", "d_ff", true},
                                       {"n_positions", "length"},
                                       {"vocab_size", "vocab"},
                                       {"activation_function", "activation"},
                                       {"layer_norm_epsilon", "norm_eps"},
                                       {"tie_word_embeddings", "tied"}};

constexpr NamedSetting kNanoTable[] = {{"n_layer", "layers"},
                                       {"n_head", "heads"},
                                       {"n_embd", "d_model"},
                                       {"block_size", "length"},
                                       {"vocab_size", "vocab"},
                                       {"bias", "biases"},
                                       {"activation_function", "activation", false, false},
                                       {"tie_word_embeddings", "tied", false, false}};

constexpr NamedSetting kLlamaTable[] = {{"num_hidden_layers", "layers"},
                                        {"num_attention_heads", "heads"},
                                        {"hidden_size", "d_model"},
                                        {"intermediate_size", "d_ff"},
                                        {"head_dim", "d_head", true},
                                        {"num_key_value_heads", "kv_heads", true},
                                        {"max_position_embeddings", "length"},
                                        {"vocab_size", "vocab"},
                                        {"hidden_act", "activation"},
                                        {"rms_norm_eps", "norm_eps"},
                                        {"rope_theta", "rotary_base"},
                                        {"rope_parameters.rope_theta", "rotary_base"},
                                        {"tie_word_embeddings", "tied"}};

constexpr NamedSetting kTransformerLensTable[] = {{"n_layers", "layers"},
                                                  {"n_heads", "heads"},
                                                  {"d_model", "d_model"},
                                                  {"d_head", "d_head"},
                                                  {"d_mlp", "d_ff", true},
                                                  {"n_ctx", "length"},
                                                  {"d_vocab", "vocab"},
                                                  {"act_fn", "activation", true},
                                                  {"normalization_type", "norm", false, true,
                                                   "none"},
                                                  {"eps", "norm_eps"},
                                                  {"positional_embedding_type", "positions"},
                                                  {"rotary_base", "rotary_base"},
                                                  {"n_key_value_heads", "kv_heads", true},
                                                  {"tie_word_embeddings", "tied"}};

// ---- reasons that many keys share

constexpr const char* kOrigin = "says where the model comes from";
constexpr const char* kTraining = "matters in training only";
constexpr const char* kOutputs = "chooses what a call returns, not how it is computed";
constexpr const char* kSampling = "chooses how tokens are sampled";
constexpr const char* kTokens = "names a token; the model reads numbers";
constexpr const char* kClassifier = "belongs to a classifier on top of the model";
constexpr const char* kStorage = "chooses how numbers are stored";
constexpr const char* kSpeed = "chooses how fast or in how much memory, not what is computed";
constexpr const char* kDecoder = "headlab has this layout as a decoder without cross-attention";

// ---- keys of every model of transformers

constexpr KnownKey kHuggingFaceTable[] = {
    {"model_type", read, "", "names the family"},
    {"architectures", read, "", "names the class of the family"},
    {"_name_or_path", harmless, "", kOrigin},
    {"_commit_hash", harmless, "", kOrigin},
    {"name_or_path", harmless, "", kOrigin},
    {"transformers_version", harmless, "", kOrigin},
    {"transformers.js_config", harmless, "", kOrigin},
    {"unsloth_version", harmless, "", kOrigin},
    {"unsloth_fixed", harmless, "", kOrigin},
    {"is_llama_config", harmless, "", kOrigin},
    {"model_max_length", harmless, "", "is a setting of the tokenizer"},
    {"tokenizer_class", harmless, "", "is a setting of the tokenizer"},
    {"prefix", harmless, "", "is text that generation puts before a prompt"},
    {"torch_dtype", harmless, "", kStorage},
    {"dtype", harmless, "", kStorage},
    {"use_bfloat16", harmless, "", kStorage},
    {"quantization_config", only, "[null]", "quantized weights have other names and types"},
    {"torchscript", harmless, "", kSpeed},
    {"use_cache", harmless, "", kSpeed},
    {"attn_implementation", harmless, "", kSpeed},
    {"_attn_implementation", harmless, "", kSpeed},
    {"_attn_implementation_autoset", harmless, "", kSpeed},
    {"_attn_implementation_internal", harmless, "", kSpeed},
    {"chunk_size_feed_forward", harmless, "", kSpeed},
    {"gradient_checkpointing", harmless, "", kSpeed},
    {"initializer_range", harmless, "", kTraining},
    {"return_dict", harmless, "", kOutputs},
    {"output_hidden_states", harmless, "", kOutputs},
    {"output_attentions", harmless, "", kOutputs},
    {"output_past", harmless, "", kOutputs},
    {"output_scores", harmless, "", kOutputs},
    {"return_dict_in_generate", harmless, "", kOutputs},
    {"is_decoder", harmless, "", "these families are decoders whatever it says"},
    {"is_encoder_decoder", only, "[false, null]", kDecoder},
    {"add_cross_attention", only, "[false, null]", kDecoder},
    {"cross_attention_hidden_size", only, "[null]", kDecoder},
    {"tie_encoder_decoder", only, "[false, null]", kDecoder},
    {"tf_legacy_loss", harmless, "", kTraining},
    {"pad_token_id", harmless, "", kTokens},
    {"bos_token_id", harmless, "", kTokens},
    {"eos_token_id", harmless, "", kTokens},
    {"sep_token_id", harmless, "", kTokens},
    {"decoder_start_token_id", harmless, "", kTokens},
    {"finetuning_task", harmless, "", kClassifier},
    {"problem_type", harmless, "", kClassifier},
    {"id2label", harmless, "", kClassifier},
    {"label2id", harmless, "", kClassifier},
    {"num_labels", harmless, "", kClassifier},
    {"_num_labels", harmless, "", kClassifier},
    {"classifier_dropout", harmless, "", kClassifier},
    {"task_specific_params", harmless, "", kSampling},
    {"max_length", harmless, "", kSampling},
    {"min_length", harmless, "", kSampling},
    {"do_sample", harmless, "", kSampling},
    {"early_stopping", harmless, "", kSampling},
    {"num_beams", harmless, "", kSampling},
    {"num_beam_groups", harmless, "", kSampling},
    {"diversity_penalty", harmless, "", kSampling},
    {"temperature", harmless, "", kSampling},
    {"top_k", harmless, "", kSampling},
    {"top_p", harmless, "", kSampling},
    {"typical_p", harmless, "", kSampling},
    {"repetition_penalty", harmless, "", kSampling},
    {"length_penalty", harmless, "", kSampling},
    {"no_repeat_ngram_size", harmless, "", kSampling},
    {"encoder_no_repeat_ngram_size", harmless, "", kSampling},
    {"bad_words_ids", harmless, "", kSampling},
    {"num_return_sequences", harmless, "", kSampling},
    {"forced_bos_token_id", harmless, "", kSampling},
    {"forced_eos_token_id", harmless, "", kSampling},
    {"remove_invalid_values", harmless, "", kSampling},
    {"exponential_decay_length_penalty", harmless, "", kSampling},
    {"suppress_tokens", harmless, "", kSampling},
    {"begin_suppress_tokens", harmless, "", kSampling}};

// ---- GPT-2

constexpr KnownKey kGpt2KnownTable[] = {
    {"n_ctx", harmless, "", "is the size of the mask (headlab makes its own)"},
    {"pruned_heads", read, "", "names the heads that are gone"},
    {"embd_pdrop", harmless, "", kTraining},
    {"resid_pdrop", harmless, "", kTraining},
    {"attn_pdrop", harmless, "", kTraining},
    {"summary_type", harmless, "", kClassifier},
    {"summary_use_proj", harmless, "", kClassifier},
    {"summary_activation", harmless, "", kClassifier},
    {"summary_proj_to_labels", harmless, "", kClassifier},
    {"summary_first_dropout", harmless, "", kClassifier},
    {"reorder_and_upcast_attn", harmless, "", "changes the rounding of 16-bit numbers only"},
    {"scale_attn_weights", only, "[true]", "scores are divided by sqrt(d_head)"},
    {"scale_attn_by_inverse_layer_idx", only, "[false]", "scores are divided by sqrt(d_head)"}};

constexpr Family kGpt2FamilyTable[] = {{"gpt2", "GPT2LMHeadModel"}};

// ---- nanoGPT and minGPT

constexpr KnownKey kNanoKnownTable[] = {
    {"dropout", harmless, "", kTraining},
    {"embd_pdrop", harmless, "", kTraining},
    {"resid_pdrop", harmless, "", kTraining},
    {"attn_pdrop", harmless, "", kTraining},
    {"model_type", only, R"([null, "nanogpt", "gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"])",
     "other families compute something else"}};

// ---- Llama and its relatives

constexpr const char* kPlainRotary = "headlab rotates all pairs by base^(-2i/D) a position";

constexpr KnownKey kLlamaKnownTable[] = {
    {"attention_dropout", harmless, "", kTraining},
    {"attention_bias", read, "", "says whether attention has biases"},
    {"mlp_bias", read, "", "says whether the feed-forward network has biases"},
    {"use_bias", read, "", "says whether linear maps have biases"},
    {"sliding_window", read, "", "is the number of positions that a query sees"},
    {"use_sliding_window", read, "", "turns sliding_window off"},
    {"max_window_layers", read, "", "is the first layer with a window"},
    {"layer_types", read, "", "says which layers have a window"},
    {"pretraining_tp", only, "[1, null]", "it splits linear maps, which rounds differently"},
    {"rope_scaling.rope_type", only, R"(["default", null])", kPlainRotary},
    {"rope_scaling.type", only, R"(["default", null])", kPlainRotary},
    {"rope_parameters.rope_type", only, R"(["default", null])", kPlainRotary},
    {"rope_parameters.type", only, R"(["default", null])", kPlainRotary},
    {"rope_parameters.partial_rotary_factor", only, "[1, null]", kPlainRotary},
    {"partial_rotary_factor", only, "[1, null]", kPlainRotary},
    {"rope_interleaved", only, "[false, null]", "the family decides which pairs are rotated"},
    {"use_mrope", only, "[false, null]", kPlainRotary},
    {"no_rope_layers", only, "[null]", "every layer has rotary positions"}};

constexpr Family kLlamaFamilyTable[] = {
    {.model_type = "llama",
     .architecture = "LlamaForCausalLM",
     .biases = {"attention_bias", "attention_bias", "mlp_bias"}},
    {.model_type = "mistral",
     .architecture = "MistralForCausalLM",
     .defaults = R"({"sliding_window": 4096})",
     .windows = FamilyWindows::all_layers},
    {.model_type = "qwen2",
     .architecture = "Qwen2ForCausalLM",
     .biases = {.query_key_value = kAlways},
     .defaults = R"({"sliding_window": 4096, "use_sliding_window": false,
                     "max_window_layers": 28})",
     .windows = FamilyWindows::by_layer},
    {.model_type = "helium",
     .architecture = "HeliumForCausalLM",
     .biases = {.query_key_value = "attention_bias", .network = "mlp_bias"},
     .defaults = R"({"rope_theta": 100000})",
     .adjacent_pairs = true},
    {.model_type = "ernie4_5",
     .architecture = "Ernie4_5ForCausalLM",
     .biases = {"use_bias", "use_bias", "use_bias"},
     .defaults = R"({"rope_theta": 500000})",
     .adjacent_pairs = true}};

// ---- TransformerLens

constexpr const char* kHooks = "chooses which activations can be hooked";
constexpr const char* kTokenizer = "is a setting of the tokenizer";
constexpr const char* kUnusedNtk = "is read only with use_NTK_by_parts_rope";
constexpr const char* kUnusedYarn = "is read only with use_yarn_rope";
constexpr const char* kEncoderDecoder = "is read only by T5";
constexpr const char* kNoExperts = "headlab has one feed-forward network a layer";

double root_of_width(const TransformerConfig& config) {
  return std::sqrt(static_cast<double>(config.d_head_of(0)));
}

double width_of_head(const TransformerConfig& config) {
  return static_cast<double>(config.d_head_of(0));
}

/// TransformerLens reads `final_rms` only to choose the last norm among layer norms.
bool has_no_layer_norm(const TransformerConfig& config) { return config.norm != NormType::layer; }

constexpr KnownKey kTransformerLensKnownTable[] = {
    {"gated_mlp", read, "", "says whether the feed-forward network has W_gate"},
    {"attn_only", read, "", "says that there is no feed-forward network"},
    {"rotary_adjacent_pairs", read, "", "says which pairs are rotated"},
    {"use_local_attn", read, "", "says that there are windows"},
    {"window_size", read, "", "is the number of positions that a query sees"},
    {"attn_types", read, "", "says which layers have a window"},
    {"attention_dir", read, "", "says whether the model is a decoder or an encoder"},
    {"d_vocab_out", read, "", "is the number of outputs"},
    {"use_attn_scale", only, "[true]", "scores are divided by sqrt(d_head)"},
    {"attn_scale", only, "[-1, null]", "scores are divided by sqrt(d_head)", root_of_width},
    {"scale_attn_by_inverse_layer_idx", only, "[false, null]",
     "scores are divided by sqrt(d_head)"},
    {"attn_scores_soft_cap", only, "[-1, null]", "scores are not capped"},
    {"output_logits_soft_cap", only, "[-1, null]", "logits are not capped"},
    {"use_qk_norm", only, "[false, null]", "queries and keys are not normalized"},
    {"rotary_dim", only, "[null]", kPlainRotary, width_of_head},
    {"rotary_base_local", only, "[null]", kPlainRotary},
    {"rotary_scaling_factor", only, "[1, null]", kPlainRotary},
    {"use_NTK_by_parts_rope", only, "[false, null]", kPlainRotary},
    {"use_yarn_rope", only, "[false, null]", kPlainRotary},
    {"parallel_attn_mlp", only, "[false, null]", "the network reads what attention wrote"},
    {"post_embedding_ln", only, "[false, null]", "embeddings are not normalized"},
    {"use_normalization_before_and_after", only, "[false, null]", "outputs are not normalized"},
    {"final_rms", only, "[false, null]", "all norms are of one kind", nullptr, has_no_layer_norm},
    {"num_experts", only, "[null]", kNoExperts},
    {"experts_per_token", only, "[null]", kNoExperts},
    {"norm_topk_prob", only, "[false, null]", kNoExperts},
    {"load_in_4bit", only, "[false, null]", "quantized weights have other names and types"},
    {"original_architecture", only,
     R"([null, "custom", "neel", "GPT2LMHeadModel", "LlamaForCausalLM", "MistralForCausalLM",
         "Qwen2ForCausalLM"])",
     "headlab has checked these families"},
    {"NTK_by_parts_low_freq_factor", harmless, "", kUnusedNtk},
    {"NTK_by_parts_high_freq_factor", harmless, "", kUnusedNtk},
    {"NTK_by_parts_factor", harmless, "", kUnusedNtk},
    {"NTK_original_ctx_len", harmless, "", kUnusedNtk},
    {"yarn_factor", harmless, "", kUnusedYarn},
    {"yarn_attention_factor", harmless, "", kUnusedYarn},
    {"yarn_beta_fast", harmless, "", kUnusedYarn},
    {"yarn_beta_slow", harmless, "", kUnusedYarn},
    {"yarn_original_max_position_embeddings", harmless, "", kUnusedYarn},
    {"relative_attention_max_distance", harmless, "", kEncoderDecoder},
    {"relative_attention_num_buckets", harmless, "", kEncoderDecoder},
    {"decoder_start_token_id", harmless, "", kEncoderDecoder},
    {"use_attn_result", harmless, "", kHooks},
    {"use_attn_in", harmless, "", kHooks},
    {"use_split_qkv_input", harmless, "", kHooks},
    {"use_hook_mlp_in", harmless, "", kHooks},
    {"use_hook_tokens", harmless, "", kHooks},
    {"ungroup_grouped_query_attention", harmless, "", kHooks},
    {"tokenizer_name", harmless, "", kTokenizer},
    {"tokenizer_prepends_bos", harmless, "", kTokenizer},
    {"default_prepend_bos", harmless, "", kTokenizer},
    {"model_name", harmless, "", kOrigin},
    {"from_checkpoint", harmless, "", kOrigin},
    {"checkpoint_index", harmless, "", kOrigin},
    {"checkpoint_label_type", harmless, "", kOrigin},
    {"checkpoint_value", harmless, "", kOrigin},
    {"n_params", harmless, "", "follows from the other sizes"},
    {"init_mode", harmless, "", kTraining},
    {"init_weights", harmless, "", kTraining},
    {"initializer_range", harmless, "", kTraining},
    {"seed", harmless, "", kTraining},
    {"device", harmless, "", kSpeed},
    {"n_devices", harmless, "", kSpeed},
    {"trust_remote_code", harmless, "", kOrigin},
    {"dtype", harmless, "", kStorage}};

}  // namespace

constinit const std::span<const NamedSetting> kGpt2Keys = kGpt2Table, kNanoKeys = kNanoTable,
                                              kLlamaKeys = kLlamaTable,
                                              kTransformerLensKeys = kTransformerLensTable;
constinit const std::span<const KnownKey> kHuggingFaceKnown = kHuggingFaceTable,
                                          kGpt2Known = kGpt2KnownTable,
                                          kNanoKnown = kNanoKnownTable,
                                          kLlamaKnown = kLlamaKnownTable,
                                          kTransformerLensKnown = kTransformerLensKnownTable;
constinit const std::span<const Family> kGpt2Families = kGpt2FamilyTable,
                                        kLlamaFamilies = kLlamaFamilyTable;

}}  // namespace headlab
