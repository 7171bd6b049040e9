// `headlab pattern`: attention patterns on one sequence. Shows one head or all, as heatmaps or in a
// grid, on a held-out example of those that `heads` scores or on the user's own input; or writes
// the activations of the whole model as arrays for NumPy. Read next:
// lab/heads/scores/activations.h, report/grid.cc.
#include "app/cli/commands.h"
#include "headlab/lab/results/fields.h"
#include "headlab/lab/results/stored_json.h"
#include "lab/heads/scores/named_arrays.h"

namespace headlab::cli {
namespace {

constexpr const char* kArrays = R"(
arrays of --activations, for each attention layer LAYER, such as blocks.0.attn
(N sequences, T queries, S keys, H heads, G key-value blocks):
  LAYER.q [N, T, H, d_head]    LAYER.k [N, S, G, d_head]  (both rotated)
  LAYER.v [N, S, G, d_value]   LAYER.pattern [N, H, T, S]
  LAYER.z [N, T, H, d_value]   LAYER.heads [H], the original indices
for each feed-forward network, such as blocks.0.mlp:
  BLOCK.mlp [N, T, d_model]    what it adds to the residual stream
and for the whole model:
  stream.I [N, T, d_model]     the residual stream before block I; the last
                               is the one after the last block
  logits [N, T, targets, outputs]
  tokens [N, T], lengths [N]; positions from a length on are NaN
an encoder adds encoder.stream.I, source [N, S] and source_lengths [N]; a task
file adds lines [N], from 1, or sequences [N] of a .npz, from 0
)";

struct PatternFlags {
  std::string head = "all";
  std::string relation, input, npy, z, activations;
  bool grid = false;
  Index example = 0;
  Index examples = 0;
  TaskFlag task;
  PictureFlags picture;

  bool is_one_head() const { return head != "all"; }
  /// Returns whether the result shows which relation each head owns.
  bool needs_scores() const { return !is_one_head() && (grid || picture.wanted()); }

  Flags settings() {
    Flags s;
    s.naming(ValueKind::heads, "head", head, "head to show (same as the second argument)",
             {.choices = {"all"}});
    s.integer("example", example, 0, 65535, "held-out example to show");
    s.string("input", input, "your own input: tokens, or the characters of a text");
    task.add_to(s);
    s.group("how");
    s.boolean("grid", grid, "small patterns of all heads, with the relations that they own");
    s.naming(ValueKind::relation, "relation", relation,
             "relation to mark; the best-fitting one if empty");
    s.integer("examples", examples, 0, 1 << 24,
              "held-out examples to score (0: 512) or to write (0: 1)");
    s.group("output");
    s.naming(ValueKind::file, "npy", npy, "patterns [heads, queries, keys] (NumPy)");
    s.naming(ValueKind::file, "z", z, "head outputs [heads, queries, d_value] (NumPy)");
    s.naming(ValueKind::file, "activations", activations, "activations of all layers (NumPy)");
    picture.add_to(s);
    s.excludes({"example"}, {flag_given("input")});
    s.excludes({"relation"}, {flag_given("grid")});
    s.needs({"examples"}, {flag_given("grid"), flag_given("activations"), flag_given("svg")});
    return s;
  }
};

/// Returns the patterns of one head or of all, on a held-out example or on the user's own input.
std::vector<HeadPattern> patterns_on(const Run& run, const PatternFlags& flags) {
  if (flags.is_one_head()) {
    const HeadId head = parse_head("HEAD", flags.head, &run.model);
    if (flags.input.empty()) return {pattern_of(run.model, *run.task, head, flags.example)};
    return {pattern_of(run.model, *run.task, head, typed_example(run, "--input", flags.input))};
  }
  if (flags.input.empty()) return patterns_of(run.model, *run.task, flags.example);
  return patterns_of(run.model, *run.task, typed_example(run, "--input", flags.input));
}

/// Returns the ground truth to mark; nullptr if there is none. UsageError for a relation that does
/// not apply to the head.
const TruthCells* marked_truth(const HeadPattern& pattern, const std::string& relation) {
  if (!relation.empty()) {
    require_known("relation", relation, texts_of(pattern.truth, &TruthCells::relation));
  }
  return pattern.truth_of(relation);
}

/// Returns the weights of one head, a row for each query.
Table weights_table(const HeadPattern& pattern) {
  const std::size_t keys = pattern.keys.size();
  Fields<std::size_t> fields;
  fields.add({"query", "query"}, [&](std::size_t q) { return pattern.queries[q]; });
  for (std::size_t k = 0; k < keys; ++k) {
    fields.add(element_column("weights", k, pattern.keys[k]),
               [&, k](std::size_t q) { return pattern.weights[q * keys + k]; });
  }
  return fields.table({"attention_weights"}, indices(pattern.queries.size()));
}

std::string pattern_text(const Run& run, const HeadPattern& pattern, const PatternFlags& flags) {
  const TruthCells* truth = marked_truth(pattern, flags.relation);
  HeatmapOptions options;
  if (truth != nullptr) options.truth = truth->cells;
  return text("head ", head_text(pattern.head), " (",
              attention_layer_names(run.model)[pattern.head.attention_layer], ") on ",
              flags.input.empty() ? text("held-out example ", flags.example) : "your input",
              ":\na row for each position, a column for each position it may look at;\n"
              "at its end the row's largest weight\n",
              truth == nullptr ? ""
                               : text("ground truth: ", truth->relation, ", mean weight on it ",
                                      fixed(truth->mass, 3), "\n"),
              "\n", heatmap(pattern.weights, pattern.queries, pattern.keys, options), "\n");
}

/// Returns the arrays that name the example or the input of the flags.
std::vector<NamedArray> shown_arrays(const Run& run, const PatternFlags& flags) {
  if (!flags.input.empty()) return token_arrays(typed_example(run, "--input", flags.input).batch);
  return example_arrays(*run.task, Split::validation, flags.example, flags.example + 1);
}

/// Writes [heads, queries, rest] of one member of the patterns; the attention layers of an
/// encoder-decoder differ in their sizes.
void write_heads(const Invocation& call, const Run& run, const PatternFlags& flags,
                 const std::vector<HeadPattern>& patterns, bool outputs) {
  const std::string& file = outputs ? flags.z : flags.npy;
  const auto member = outputs ? &HeadPattern::z : &HeadPattern::weights;
  if (file.empty()) return;
  const auto queries = std::ssize(patterns[0].queries);
  const std::size_t count = (patterns[0].*member).size();
  std::vector<float> all;
  for (const HeadPattern& one : patterns) {
    require(std::ssize(one.queries) == queries && (one.*member).size() == count,
            "cannot write the heads into one array: they see different numbers of tokens; write "
            "one at a time");
    all.insert(all.end(), (one.*member).begin(), (one.*member).end());
  }
  const NamedArray array{outputs ? "z" : "patterns",
                         {std::ssize(patterns), queries, static_cast<Index>(count) / queries},
                         std::move(all)};
  write_array(call, file, array, [&] {
    std::vector<NamedArray> joins = shown_arrays(run, flags);
    std::vector<HeadId> heads;
    for (const HeadPattern& one : patterns) heads.push_back(one.head);
    joins.push_back(heads_array(heads));
    return joins;
  });
}

/// Writes the activations on the shown sequence and, with --examples, on those after it.
void write_activations(const Invocation& call, const Run& run, const PatternFlags& flags) {
  if (flags.activations.empty()) return;
  Batch batch;
  FilePlaces places;
  if (!flags.input.empty()) {
    batch = typed_example(run, "--input", flags.input).batch;
  } else {
    const Index count = std::max<Index>(flags.examples, 1);
    const Index end = flags.example + count;
    require(at_most_different(*run.task, end) == end, "cannot write examples ", flags.example,
            " to ", end - 1, ": ", run.task->different(Split::validation),
            " different ones are held out");
    const Example examples = run.task->make(streams::scored(), end, Split::validation);
    batch = examples.batch.rows(flags.example, end);
    places = places_in_file(*run.task, Split::validation, flags.example, count);
  }
  std::vector<NamedArray> arrays = activation_arrays(run.model, batch);
  add_places(arrays, places);
  write_out(call, flags.activations, npz_of(arrays));
}

Result result_of(const Run& run, const std::vector<HeadPattern>& patterns, bool is_one) {
  Result found;
  if (is_one) {
    found.about = stamped(to_json(patterns[0]).members());
  } else {
    found.about = stamped({{"example", patterns[0].example}, {"patterns", patterns}});
    found.about["attention"] = attention_layer_names(run.model);
  }
  for (const HeadPattern& pattern : patterns) {
    Table table = weights_table(pattern);
    if (!is_one) table.name += "." + head_text(pattern.head);
    found.tables.push_back(std::move(table));
  }
  return found;
}

HeadsReport report_for_grid(const Run& run, const PatternFlags& flags) {
  HeadsOptions options;
  options.without_truth = false;
  if (flags.examples > 0) options.examples = flags.examples;
  return score_heads(run.model, *run.task, options);
}

void check_flags(const PatternFlags& flags) {
  if (flags.is_one_head()) parse_head("HEAD", flags.head);  // before anything slow
  if (flags.is_one_head() && flags.grid) {
    throw UsageError("--grid cannot be combined with one head: it shows all", "leave one out");
  }
  if (flags.examples > 0 && !flags.needs_scores() && flags.activations.empty()) {
    throw UsageError("cannot use --examples: the picture of one head has no scores",
                     "leave --examples out");
  }
  if (flags.examples > 0 && !flags.needs_scores() && !flags.input.empty()) {
    throw UsageError("--examples cannot be combined with --input: your input is one sequence",
                     "leave one of them out");
  }
  if (flags.examples == 1 && flags.needs_scores()) {
    throw UsageError("cannot use --examples 1: scores need 2 examples or more",
                     "give a larger number, or 0 for 512");
  }
  flags.picture.units();
  require_array("--npy", flags.npy);
  require_array("--z", flags.z);
  require_ending("--activations", flags.activations, ".npz");
}

/// Reads the flags; a head may be given as the second argument or by --head.
void read_flags(Invocation& call, PatternFlags& flags) {
  call.read(flags.settings(), call.out_setting(true), kArrays);
  if (call.positionals().size() > 1) {
    if (call.given("head")) {
      throw UsageError("--head cannot be combined with HEAD", "leave one of them out");
    }
    flags.head = call.positionals()[1];
    if (flags.head.find(' ') != flags.head.npos) {
      throw UsageError(text("cannot use HEAD ", flags.head, ": expected LAYER.HEAD, such as 0.2"),
                       text(program_call(), " pattern ", shell_word(call.positionals()[0]),
                            " --input ", shell_word(flags.head)));
    }
  }
  check_flags(flags);
}

}  // namespace

Result pattern_shape() { return {.tables = {weights_table({})}}; }

Output pattern(Invocation& call) {
  PatternFlags flags;
  read_flags(call, flags);
  const Run run = flags.task.open(call.positionals()[0]);
  const std::vector<HeadPattern> patterns = patterns_on(run, flags);
  require(!patterns.empty(), "cannot show a pattern: the model has no head");
  std::optional<HeadsReport> report;
  if (flags.needs_scores()) report = report_for_grid(run, flags);
  std::string shown;
  if (flags.grid) {
    shown = grid_text(run.model.config(), patterns, *report) + "\n";
  } else {
    for (const HeadPattern& pattern : patterns) shown += pattern_text(run, pattern, flags);
  }
  for (const bool outputs : {false, true}) write_heads(call, run, flags, patterns, outputs);
  write_activations(call, run, flags);
  const Result found = result_of(run, patterns, flags.is_one_head());
  const Output all{.json = to_json(found),
                   .text = shown,
                   .quotes_data = true,
                   .tables = found.tables};
  return with_picture(call, flags.picture, store_result(call, run, all, ""), [&](double units) {
    if (report) return grid_figure(run.model.config(), patterns, *report, units);
    return pattern_figure(patterns[0], flags.relation, units);
  });
}

}  // namespace headlab::cli
