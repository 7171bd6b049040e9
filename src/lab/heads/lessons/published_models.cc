// Attention of published models: sizes as their sources state them, with the weights of a layer and
// the cache of generation that follow from them. A lesson shows the table.
// Read next: lesson_tables.cc.
#include "headlab/lab/heads/lessons/lessons.h"
#include "headlab/lab/results/fields.h"

namespace headlab {
namespace {

constexpr PublishedModel kModels[] = {
    {"Transformer base", 512, 8, 8, 64, 6, "Vaswani 2017, table 3"},
    {"BERT-base", 768, 12, 12, 64, 12, "Devlin 2019, section 3", false},
    {"BERT-large", 1024, 16, 16, 64, 24, "Devlin 2019, section 3", false},
    {"GPT-2 small", 768, 12, 12, 64, 12, "Radford 2019 and its hparams.json"},
    {"GPT-2 medium", 1024, 16, 16, 64, 24, "Radford 2019 and its hparams.json"},
    {"GPT-2 large", 1280, 20, 20, 64, 36, "Radford 2019 and its hparams.json"},
    {"GPT-2 XL", 1600, 25, 25, 64, 48, "Radford 2019 and its hparams.json"},
    {"GPT-3 small", 768, 12, 12, 64, 12, "Brown 2020, table 2.1"},
    {"GPT-3 175B", 12288, 96, 96, 128, 96, "Brown 2020, table 2.1"},
    {"T5-11B", 1024, 128, 128, 128, 24, "Raffel 2020, section 3.7"},
    {"ViT-Base", 768, 12, 12, 64, 12, "Dosovitskiy 2021, table 1", false},
    {"AlphaFold 2", 256, 8, 8, 32, 48, "Jumper 2021, suppl. 1.6", false},
    {"PaLM 540B", 18432, 48, 1, 256, 118, "Chowdhery 2022, table 1"},
    {"Llama 2 7B", 4096, 32, 32, 128, 32, "Touvron 2023 and its params.json"},
    {"Llama 2 70B", 8192, 64, 8, 128, 80, "Touvron 2023 and its params.json"},
    {"Mistral 7B", 4096, 32, 8, 128, 32, "Jiang 2023, table 1"},
    {"Gemma 2B", 2048, 8, 1, 256, 18, "Gemma team 2024, table 1"},
    {"Llama 3 8B", 4096, 32, 8, 128, 32, "Grattafiori 2024, table 3"},
};

/// Returns the weights of W_Q, W_K, W_V and W_O of one attention layer.
Index weights_of(const PublishedModel& m) {
  const Index columns_of_heads = m.heads * m.d_head;
  const Index columns_of_blocks = m.kv_heads * m.d_head;
  return 2 * m.d_model * (columns_of_heads + columns_of_blocks);
}

/// Returns the bytes of one token in the cache of all layers: keys and values, in fp16.
Index cache_bytes_of(const PublishedModel& m) {
  constexpr Index kBytes = 2;
  return kBytes * m.layers * m.kv_heads * (m.d_head + m.d_head);
}

}  // namespace

std::span<const PublishedModel> published_models() { return kModels; }

Table published_models_table() {
  using Row = PublishedModel;
  Fields<Row> fields;
  fields.add({"name", "published model"}, &Row::name);
  fields.add({"d_model", "d_model"}, &Row::d_model);
  fields.add({"heads", "heads"}, &Row::heads);
  fields.add({"kv_heads", "K, V", "blocks of keys and values"}, &Row::kv_heads);
  fields.add({"d_head", "d_head", "width of a head; d_model / heads if the source states none"},
             &Row::d_head);
  fields.add({"layers", "layers"}, &Row::layers);
  fields.add(Column("parameters", "weights",
                    "number of weights in one attention layer, without biases")
                 .shown_as(Form::grouped),
             weights_of);
  fields.add(Column("cache_bytes", "cache/token",
                    "bytes per token over all layers in fp16; empty for models that do not "
                    "generate")
                 .shown_as(Form::grouped),
             [](const Row& m) { return m.generates ? Json(cache_bytes_of(m)) : Json(); });
  fields.add({"source", "source"}, &Row::source);
  return fields.table({.name = "published",
                       .title = "attention of published models",
                       .note = "In T5-11B and PaLM 540B, heads times d_head is not d_model"},
                      kModels);
}

}  // namespace headlab
