// A run's own numbers, step by step: they are read from one forward pass over a held-out example,
// and computed again in double, so that a reader can follow every product. How far both lie apart
// is said. Read next: heads/model_steps.h.
#include "cli/topics_of_runs.h"

#include <algorithm>
#include <cmath>

#include "cli/commands.h"
#include "headlab/base/text.h"
#include "headlab/bench/cost.h"
#include "headlab/heads/model_steps.h"
#include "headlab/heads/scores.h"
#include "headlab/report/lessons_text.h"
#include "headlab/train/evaluate.h"
#include "headlab/train/streams.h"

namespace headlab::cli {
namespace {

/// A run with one of its held-out examples and what the model makes of it.
struct Opened {
  Run run;
  Batch batch;
  Activations activations;

  Opened(const Invocation& call, Index example)
      : run(open_run(call.positionals()[1])),
        batch(batch_of(run, example)),
        activations(run.model, batch) {}

  /// Example N of those that `heads` scores.
  static Batch batch_of(const Run& run, Index example) {
    if (at_most_different(*run.task, example + 1) <= example)
      throw UsageError(text("there is no example ", example, ": ",
                            run.task->different(Split::validation), " different ones are held out"),
                       "--example counts from 0");
    return run.task->make(streams::scored(), example + 1, Split::validation)
        .batch.rows(example, example + 1);
  }
  std::vector<std::string> shown(std::span<const std::int32_t> tokens) const {
    return texts_of(tokens, [&](std::int32_t token) { return run.task->token_text(token); });
  }
};

Index query_number(const std::string& name, std::size_t queries) {
  double number = 0;
  const bool whole = parse_number(name, number) && number == std::floor(number);
  if (!whole || number < 0 || number >= static_cast<double>(queries))
    throw UsageError(text("--query ", name, ": there is no such query"),
                     text("those of the example are counted from 0 to ", queries - 1));
  return static_cast<Index>(number);
}

struct ShapeRow {
  std::string what, computed, shape;
};

std::string shape(std::initializer_list<Index> sizes) {
  std::vector<std::string> parts;
  for (const Index size : sizes) parts.push_back(grouped(size));
  return "[" + join(parts, ", ") + "]";
}

std::vector<ShapeRow> shapes_of(const AttentionPlaceSizes& m, Index B) {
  const AttentionSizes& s = m.sizes;
  const Index T = m.queries, S = m.keys, C = s.d_model, H = s.heads, G = s.kv_heads, D = s.d_head,
              Dv = s.d_value;
  return {{"x", "the stream, all of which every head sees", shape({B, T, C})},
          {"x W_Q", text(shape({C, H * D}), ": columns h D to (h + 1) D belong to head h"),
           shape({B, T, H * D})},
          {"q", "cut into heads: the projected vector, not x", shape({B, H, T, D})},
          {"k", text("x W_K ", shape({C, G * D}), G == H ? "" : ", a block for several heads"),
           shape({B, G, S, D})},
          {"v", text("x W_V ", shape({C, G * Dv})), shape({B, G, S, Dv})},
          {"q k^T / sqrt(D)",
           text("D = ", D, ", divided by ", significant(std::sqrt(static_cast<double>(D)))),
           shape({B, H, T, S})},
          {"softmax", "each row sums to 1", shape({B, H, T, S})},
          {"z", "weights x v", shape({B, H, T, Dv})},
          {"heads side by side", "concatenated", shape({B, T, H * Dv})},
          {"z W_O", text(shape({H * Dv, C}), ": mixes the heads"), shape({B, T, C})}};
}

Result shown_shapes(const Invocation& call, const std::vector<AttentionPlaceSizes>& modules,
                    Index batch, const std::string& about) {
  std::string shown = about;
  Json list = Json::array();
  for (std::size_t i = 0; i < modules.size(); ++i) {
    Texts table({"what", "how", "shape"});
    Json rows = Json::array();
    for (const ShapeRow& row : shapes_of(modules[i], batch)) {
      table.add({row.what, row.computed, row.shape});
      rows.push_back(
          Json::object({{"what", row.what}, {"how", row.computed}, {"shape", row.shape}}));
    }
    shown += text(modules[i].name, "\n\n", table.to_string(), "\n");
    list.push_back(Json::object({{"name", modules[i].name}, {"steps", std::move(rows)}}));
  }
  shown += text("parameters of attention: ",
                grouped(parameter_cost(modules, true).rows.back()[3].integer()),
                "; by matrix: headlab cost\n");
  return reproducible(call, stamped({{"topic", "shapes"}, {"modules", std::move(list)}}), shown);
}

}  // namespace

Result attention_of_run(const Invocation& call, const TopicFlags& flags) {
  call.refuse({"heads", "file", "d_model", "length", "seed"},
              "says nothing where the numbers are a run's", "leave it out, or the run");
  const Opened o(call, flags.example);
  const std::vector<HeadId> all = all_heads(o.run.model);
  require(!all.empty(), "the model has no head");
  const HeadId head = flags.head.empty() ? all[0] : parse_head("--head", flags.head);
  as_usage([&] { return place_of(o.run.model, head); });
  const AttentionModule module = o.run.model.attention_modules()[head.layer];
  ShownHeads shown{.queries = o.shown(query_tokens(o.batch, module.kind, 0)),
                   .keys = o.shown(key_tokens(o.batch, module.kind, 0)),
                   .names = {"head " + head_text(head)}};
  const Index query = flags.query.empty() ? std::ssize(shown.queries) - 1
                                          : query_number(flags.query, shown.queries.size());
  shown.heads.push_back(steps_of(o.run.model, o.activations, o.batch, head));
  const double apart = largest_difference(shown.heads[0], o.activations, head);
  const HeadSteps& steps = shown.heads[0];
  const std::string intro = text(module.name, " on held-out example ", flags.example, ": q ",
                                 shape({steps.q.rows(), steps.q.columns()}), ", k ",
                                 shape({steps.k.rows(), steps.k.columns()}), ", v ",
                                 shape({steps.v.rows(), steps.v.columns()}), ", weights ",
                                 shape({steps.weights.rows(), steps.weights.columns()}), "\n\n");
  return reproducible(call,
                      stamped({{"topic", "attention"},
                               {"head", head},
                               {"example", flags.example},
                               {"query", query},
                               {"tokens", shown.queries},
                               {"keys", shown.keys},
                               {"steps", steps},
                               {"largest_difference", apart}}),
                      text(intro, query_text(shown, query),
                           "computed in double; the model's own "
                           "weights in float differ by at most ",
                           significant(apart), "\n"));
}

Result explain_shapes(const Invocation& call, const TopicFlags& flags) {
  if (call.positionals().size() > 1) {
    call.refuse({"heads", "d_model", "length"}, "says nothing where the shapes are a run's",
                "leave it out, or the run");
    const Run run = open_run(call.positionals()[1]);
    return shown_shapes(call, modules_of(run.model), flags.batch,
                        text("one batch of ", flags.batch, " sequences\n\n"));
  }
  const CostOptions sizes{.d_model = flags.d_model == 0 ? 512 : flags.d_model,
                          .heads = flags.heads == 0 ? 8 : flags.heads,
                          .length = flags.length == 0 ? 30 : flags.length};
  const std::string division = division_note(sizes.d_model, sizes.heads);
  return as_usage([&] {
    return shown_shapes(call, modules_of(sizes), flags.batch,
                        division.empty() ? "" : division + "\n\n");
  });
}

Result explain_output(const Invocation& call, const TopicFlags& flags) {
  const Opened o(call, flags.example);
  const std::vector<HeadWrite> writes = writes_of(o.run.model, o.activations, o.batch);
  require(!writes.empty(), "the model has no head");
  const auto modules = o.run.model.attention_modules();
  Json mixing = Json::array();
  Texts shares({"module", "largest share", "evenly mixed"});
  for (std::size_t m = 0; m < modules.size(); ++m) {
    const MultiHeadAttention& attention = *modules[m].attention;
    if (attention.head_count() == 0) continue;
    const double share = largest_share(Matrix(attention.O.W), attention.head_count());
    shares.add({modules[m].name, percent(share, 1),
                percent(1.0 / static_cast<double>(attention.head_count()), 1)});
    mixing.push_back(
        Json::object({{"module", modules[m].name},
                      {"largest_share", share},
                      {"cosines", cosines_of_writes(o.run.model, o.activations, o.batch,
                                                    static_cast<Index>(m))}}));
  }
  return reproducible(
      call,
      stamped({{"topic", "W_O"},
               {"example", flags.example},
               {"heads", writes},
               {"modules", std::move(mixing)}}),
      text(
          "y = sum over heads of z_h W_O,h on held-out example ", flags.example, "\n\n",
          writes_text(writes),
          "\n|z|: norm of a head's output over all queries; |z W_O|: what it adds to the stream, "
          "which is\nby how much the output changes without it; share: of the sum of these\n\n",
          shares.to_string(),
          "\nlargest share: what a column of the output takes from one head, of its squared "
          "weights;\n100%: columns still belong to heads\n\nwhat it costs in loss: headlab ablate ",
          shell_word(call.positionals()[1]), "\n"));
}

Result diversity_of_run(const Invocation& call) {
  const Run run = open_run(call.positionals()[1]);
  const HeadsReport report = score_heads(run.model, *run.task);
  const std::size_t n = report.heads.size();
  const double diversity = diversity_of(report);
  return reproducible(call,
                      stamped({{"topic", "diversity"}, {"heads", n}, {"diversity", diversity}}),
                      text(n, " trained heads: mean Jensen-Shannon distance of their rows ",
                           fixed(diversity, 4), "\n(0 the same, 0.8326 nothing in common), over ",
                           report.examples, " examples\n"));
}

}  // namespace headlab::cli
