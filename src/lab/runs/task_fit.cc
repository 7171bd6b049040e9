// The task that replaces a run's own must give the numbers of tokens, targets and answers the same
// meanings, so their texts are compared, not only their counts.
// Read next: run.cc.
#include "headlab/lab/runs/task_fit.h"

#include <algorithm>
#include <set>

#include "headlab/core/base/error.h"
#include "headlab/core/tasks/table.h"

namespace headlab {
namespace {

/// Returns "a decoder", "an encoder" or "an encoder-decoder".
const char* kind_text(const TaskShape& shape) {
  constexpr const char* kTexts[] = {"a decoder", "an encoder", "an encoder-decoder"};
  return kTexts[static_cast<std::size_t>(shape.architecture)];
}

/// Returns the shape with the longer sequences and sources of the two.
TaskShape longer_of(TaskShape shape, const TaskShape& other) {
  shape.length = std::max(shape.length, other.length);
  shape.source_length = std::max(shape.source_length, other.source_length);
  return shape;
}

/// Returns the spec with the parameters of `own` that it does not name. A later value replaces an
/// earlier one.
std::string completed(const std::string& spec, const std::string& own) {
  check_task(spec);
  const std::size_t colon = spec.find(':');
  const bool is_same = &find_task(spec) == &find_task(own);
  if (!is_same) return spec;
  const std::string given = colon == spec.npos ? "" : spec.substr(colon + 1);
  if (given.empty()) return own;
  return own.ends_with(':') ? own + given : own + "," + given;
}

/// Texts of numbers that a model knows, such as its tokens.
struct Vocabulary {
  const char* of;  // "token" or "answer"
  std::vector<std::string> texts{};
};

Vocabulary tokens_of(const Task& task) {
  Vocabulary all{"token"};
  for (std::int32_t i = 0; i < task.shape().vocab; ++i) all.texts.push_back(task.token_text(i));
  return all;
}

Vocabulary answers_of(const Task& task) {
  Vocabulary all{"answer"};
  for (std::int32_t i = 0; i < task.shape().outputs(); ++i) {
    all.texts.push_back(task.answer_text(i));
  }
  return all;
}

/// Throws an Error that names the first text that differs.
void require_same(const Vocabulary& own, const Vocabulary& other) {
  const std::set<std::string> known(own.texts.begin(), own.texts.end());
  for (const std::string& word : other.texts) {
    require(known.contains(word), "its ", other.of, " '", word,
            "' must be in the vocabulary of the model");
  }
  for (std::size_t i = 0; i < other.texts.size(); ++i) {
    require(own.texts[i] == other.texts[i], "its ", other.of, " ", i, " must be '", own.texts[i],
            "', as in the model, not '", other.texts[i], "'");
  }
  if (other.texts.size() == own.texts.size()) return;
  throw Error(text("it must have ", own.texts.size(), " ", own.of, "s, as the model, not ",
                   other.texts.size(), ": '", own.texts[other.texts.size()], "' is missing"));
}

/// Throws an Error unless numbers have the same meanings in both tasks.
void require_same_meanings(const Task& own, const Task& other) {
  const TaskShape has = own.shape();
  const TaskShape wants = other.shape();
  require(has.architecture == wants.architecture, "it must be for ", kind_text(has),
          ", as the model is, not for ", kind_text(wants));
  require(has.features == wants.features, "its vectors must have ", has.features,
          " numbers, as those of the model (0: tokens), not ", wants.features);
  require(own.target_names() == other.target_names(), "its targets must be ",
          join(own.target_names(), ", "), ", as those of the model, not ",
          join(other.target_names(), ", "));
  require_same(tokens_of(own), tokens_of(other));
  require_same(answers_of(own), answers_of(other));
}

}  // namespace

void require_serves(const TaskShape& has, const RunConfig& config) {
  const TaskShape& wants = config.model.shape();
  if (has.serves(wants)) return;
  const std::string rule =
      "architecture, vocab, features, targets and answers must be the task's, and no sequence "
      "longer";
  if (has.architecture != wants.architecture || has.answers != wants.answers) {
    throw Error(text("cannot use the model with the task ", config.task, ": it is ", kind_text(has),
                     " with ", has.outputs(), " outputs, the task is for ", kind_text(wants),
                     " with ", wants.outputs(), "; ", rule),
                "give the task of the model, such as --task file:train=FILE, whose header may "
                "name \"architecture\" and \"answers\"");
  }
  throw Error(text("cannot use the model with the task ", config.task, ": it has vocab ", has.vocab,
                   ", length ", has.length, " and targets ", has.targets, ", the task ",
                   wants.vocab, ", ", wants.length, " and ", wants.targets, "; ", rule));
}

Transformer with_length(const Transformer& model, const TaskShape& task) {
  TransformerConfig config = model.config();
  config.shape() = longer_of(config.shape(), task);
  if (config == model.config()) return model.clone();
  if (kind_of(config.positions).is_parameter) {
    const bool is_source = task.length <= model.config().length;
    const Index needed = is_source ? task.source_length : task.length;
    const Index learned = is_source ? model.config().source_length : model.config().length;
    throw Error(
        text("its ", is_source ? "sources" : "sequences", " need ", needed,
             " positions, and the model has learned ", learned),
        "use a model with `positions` rotary, alibi, sinusoidal or none, or a shorter task");
  }
  Transformer longer(config);
  std::vector<Tensor> parameters;
  model.visit([&](const std::string&, const Tensor& one) { parameters.push_back(one); });
  std::size_t next = 0;
  longer.visit([&](const std::string&, const Tensor& one) {
    std::ranges::copy(parameters[next].values(), one.data());
    ++next;
  });
  return longer;
}

Transformer model_from(const Run& source, RunConfig& config) {
  require_serves(longer_of(source.model.shape(), config.model.shape()), config);
  Transformer model = in_context(text("cannot use the model with the task ", config.task),
                                 [&] { return with_length(source.model, config.model.shape()); });
  config.model = model.config();
  config.from = name_of(source);
  config.from_weights = weights_hash(source.model);
  return model;
}

void use_task(Run& run, const std::string& spec) {
  in_context(text("cannot use `task` ", spec), [&] {
    std::unique_ptr<Task> task = make_task(completed(spec, run.config.task));
    if (task->spec() == run.config.task) return;
    require_same_meanings(*run.task, *task);
    run.model = with_length(run.model, task->shape());
    run.other_task = task->spec();
    run.task = std::move(task);
  });
}

}  // namespace headlab
