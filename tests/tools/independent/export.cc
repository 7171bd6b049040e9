// Data that the independent reading (read_run.py) needs of a run and cannot read from its folder:
// the examples, which follow from streams of random numbers, and what headlab says of them. Writes
// FOLDER/given.safetensors and FOLDER/said.json.
//
//   independent_reading RUN FOLDER [EXAMPLES]
#include <cstdlib>
#include <iostream>

#include "headlab/headlab.h"
#include "headlab/lab/results/stored_json.h"

namespace {

using namespace headlab;

constexpr Index kSteps = 20;  // of the optimizer
constexpr Index kEdgeExamples = 10, kRolloutExamples = 4;

void add(TensorFile& file, const std::string& name, std::span<const std::int32_t> values) {
  const std::vector<std::int64_t> wide(values.begin(), values.end());
  const auto count = static_cast<std::int64_t>(wide.size());
  file.tensors.push_back(StoredTensor::of(name, {count}, std::span<const std::int64_t>(wide)));
}

void add(TensorFile& file, const std::string& name, const Tensor& tensor) {
  file.tensors.push_back(
      StoredTensor::of(name, {tensor.count()}, std::span<const float>(tensor.values())));
}

/// Tokens, targets, sources and lengths; shapes are [B, T], [B, T, K], [B, S], [B], [B].
void add(TensorFile& file, const std::string& name, const Batch& batch) {
  const std::vector<std::int32_t> sizes = {static_cast<std::int32_t>(batch.size),
                                           static_cast<std::int32_t>(batch.length),
                                           static_cast<std::int32_t>(batch.targets_per_position),
                                           static_cast<std::int32_t>(batch.source_length)};
  add(file, name + ".sizes", sizes);
  add(file, name + ".tokens", batch.tokens);
  add(file, name + ".targets", batch.targets);
  add(file, name + ".source", batch.source);
  std::vector<std::int32_t> lengths, source_lengths;
  for (Index b = 0; b < batch.size; ++b) {
    lengths.push_back(static_cast<std::int32_t>(batch.length_of(b)));
    source_lengths.push_back(static_cast<std::int32_t>(batch.source_length_of(b)));
  }
  add(file, name + ".lengths", lengths);
  add(file, name + ".source_lengths", source_lengths);
}

/// (b, t, key) for every ground-truth key of a relation, in a row.
void add(TensorFile& file, const std::string& name, const GroundTruth& truth) {
  std::vector<std::int32_t> edges;
  for (Index i = 0; i < truth.queries(); ++i) {
    const auto [b, t, keys] = truth.query(i);
    for (const std::int32_t key : keys)
      edges.insert(edges.end(), {static_cast<std::int32_t>(b), static_cast<std::int32_t>(t), key});
  }
  add(file, name, edges);
}

/// A batch with the ground truth of each relation as NAME_truth0, NAME_truth1 ...
void add(TensorFile& file, const std::string& name, const Example& example) {
  add(file, name, example.batch);
  for (std::size_t r = 0; r < example.truth.size(); ++r)
    add(file, text(name, "_truth", r), example.truth[r]);
}

/// Twenty steps from the run's parameters, with fresh moments, and what they led to.
void add_training(TensorFile& file, const Run& run) {
  TrainConfig config = run.config.train;
  config.steps = kSteps, config.warmup = 5, config.accumulate = 1;
  config.eval_every = config.save_every = 0;
  Transformer model = run.model.clone();
  Trainer trainer(model, *run.task, config);
  trainer.run({});
  for (Index step = 0; step < kSteps; ++step) {
    const Key key =
        streams::seeded(config.seed).fold("batch").fold(static_cast<std::uint64_t>(step));
    add(file, text("step", step), run.task->make_batch(key, config.batch, Split::train));
  }
  model.visit([&](const std::string& name, const Tensor& parameter) {
    add(file, "trained." + name, parameter);
  });
}

/// The held-out examples in two halves, of which one is patched into the other.
Result patched(const Run& run, const Batch& held_out) {
  const Index half = held_out.size / 2;
  const Batch clean = held_out.rows(0, half);
  const Batch corrupted = held_out.rows(half, 2 * half);
  constexpr bool kPaths = true;
  return patch_result(run.model, clean, corrupted, kPaths);
}

/// Texts of sweeps and comparisons: what they say of the losses and accuracies of ten seeds.
Json statistics_json(const std::vector<double>& losses, const std::vector<double>& others) {
  std::vector<double> shares, differences = log_ratios(losses, others);
  for (const double loss : losses) shares.push_back(std::exp(-loss));
  const Paired pair = paired(differences);
  const double p = sign_flip_p(std::span(&differences, 1));
  return Json::object({{"losses", losses},
                       {"others", others},
                       {"mean", t_interval(losses)},
                       {"geometric", geometric_interval(losses)},
                       {"share", share_interval(shares)},
                       {"ratio", exp_of(pair.difference)},
                       {"effect", pair.effect},
                       {"p", p},
                       {"wins", pair.wins},
                       {"equal_p", equal_p(differences, std::log(1.25))},
                       {"holm", holm({p, 0.01, 0.04, 0.03, 0.5})}});
}

/// The result of `explain attention` for the last head on the first example.
Json explained(const Run& run, const Activations& activations, const Batch& batch) {
  return to_json(steps_of(run.model, activations, batch, all_heads(run.model).back()));
}

/// Returns the scores of heads with their conclusions. The rows of `classes` repeat `divisions`.
Json scored_heads(const Run& run, Index examples) {
  Json said = to_json(result_of(score_heads(run.model, *run.task, {.examples = examples})));
  std::erase_if(said.members(), [](const Json::Member& one) { return one.first == "classes"; });
  return said;
}

/// Adds the areas of edge scores and, for a single stream, attention over all layers. Each edge is
/// masked in a pass of its own, so these examples are few.
void add_edges_and_rollout(TensorFile& file, Json& said, const Run& run, Index cost_examples) {
  const Transformer& model = run.model;
  add(file, "of_edges", held_out_examples(*run.task, kEdgeExamples));
  said["edge_areas"] = result_of(find_edge_areas(model, *run.task, kEdgeExamples));
  if (model.config().has_source()) return;
  said["rollout"] = result_of(find_rollout(model, *run.task, kRolloutExamples, cost_examples));
  add(file, "of_rollout", held_out_examples(*run.task, kRolloutExamples));
}

Json relations_json(const Task& task) {
  Json::Array relations;
  for (const Relation& relation : task.relations())
    relations.push_back(Json::object({{"name", relation.name},
                                      {"positional", relation.positional},
                                      {"kind", static_cast<Index>(relation.kind)}}));
  return relations;
}

int run_export(const std::filesystem::path& path, const std::filesystem::path& out,
               Index examples) {
  const Run run = open_run(path);
  TensorFile file;
  const Index scored = at_most_different(*run.task, examples);
  const Example example = run.task->make(streams::scored(), scored, Split::validation);
  const Activations activations(run.model, example.batch);
  add(file, "scored", example.batch);
  for (std::size_t r = 0; r < example.truth.size(); ++r)
    add(file, text("truth", r), example.truth[r]);
  add(file, "logits", activations.logits());
  for (std::size_t m = 0; m < activations.cache().attention.size(); ++m)
    if (const Tensor& pattern = activations.cache().attention[m].pattern; pattern.defined())
      add(file, text("pattern", m), pattern);
  const Example held_out_example = held_out_examples(*run.task, examples);
  const Batch& held_out = held_out_example.batch;
  add(file, "held_out", held_out_example);
  const PruneProblem problem = problem_of(run, {.examples = examples});
  add(file, "choosing", run.task->make_batch(streams::choosing(), examples, Split::train));
  add_training(file, run);
  const std::vector<HeadId> heads = all_heads(run.model);
  Json said =
      stamped({{"relations", relations_json(*run.task)},
               {"heads", scored_heads(run, examples)},
               {"target_names", run.task->target_names()},
               {"ablation", result_of(ablate_heads(run.model, held_out))},
               {"edges", result_of(test_truth_edges(run.model, *run.task, {.examples = examples}))},
               {"circuits", result_of(find_circuits(run.model, {.draws = 20}))},
               {"patching", patched(run, held_out)},
               {"explain", explained(run, activations, example.batch)},
               {"step_count", kSteps}});
  said["lens"] = result_of(read_lens(run.model, *run.task, examples));
  add_edges_and_rollout(file, said, run, examples);
  const auto losses = Ablation(run.model, held_out).losses(std::vector<HeadSet>{{}, {heads[0]}});
  const auto ten = [](const std::vector<double>& all) {
    return std::vector<double>(all.begin(), all.begin() + 10);
  };
  said["statistics"] = statistics_json(ten(losses[0]), ten(losses[1]));
  if (run.config.model.norm_place != NormPlace::post) {
    said["attribution"] = result_of(attribute_logits(run.model, *run.task, examples));
    said["pairs"] = result_of(ablate_pairs(run.model, *run.task, {}, examples));
  }
  const bool small = heads.size() <= 8;
  CurveOptions options{.methods = {"greedy", "ablation"}, .settings = problem.settings};
  if (small) options.methods.emplace_back("exhaustive");
  options.judged = examples;
  said["curve"] = prune_curve(run, options);
  write_safetensors(out / "given.safetensors", file);
  write_file(out / "said.json", said.dump(1) + "\n");
  return EXIT_SUCCESS;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::cerr << "usage: independent_reading RUN FOLDER [EXAMPLES]\n";
    return 2;
  }
  try {
    const std::string examples = argc > 3 ? argv[3] : "256";
    return run_export(argv[1], argv[2], std::stoll(examples));
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return EXIT_FAILURE;
  }
}
