// `headlab circuits`, `headlab attribute` and `headlab patch`: how heads do what they do. From the
// weights alone; from what each part adds to a logit; from what brings an answer back. The run's
// model is only read. Read next: heads/circuits.h, heads/attribution.h, heads/patching.h.
#include "headlab/heads/circuits.h"

#include "cli/findings.h"
#include "headlab/base/version.h"
#include "headlab/heads/ablation.h"
#include "headlab/heads/attribution.h"
#include "headlab/heads/patching.h"
#include "headlab/report/circuits_text.h"

namespace headlab::cli {
namespace {

constexpr Index kLargestVocabulary = 4096;  // V x V numbers for each head

struct CircuitFlags {
  CircuitOptions options;
  std::string head, matrix = "ov";
  Index target = 0;
  CommonFlags common;

  Settings settings() {
    Settings s;
    s.add(named_text("head", "LAYER.HEAD", head, "show this head's matrix over the vocabulary"));
    s.add(named_text("matrix", "ov|qk", matrix,
                     "which: what a token adds to logits, or which tokens look at which"));
    s.integer("target", target, 0, 1 << 20, "of ov, where there are several targets");
    s.integer("draws", options.draws, 10, 1 << 20, "random pairs to compare compositions with");
    s.integer("seed", options.seed, 0, std::int64_t{1} << 53, "of these draws");
    s.add(common.settings());
    return s;
  }
};

/// One matrix over the vocabulary; written nowhere.
int show_matrix(const Run& run, const CircuitFlags& flags, const std::string& command) {
  const HeadId head = parse_head("--head", flags.head);
  as_usage([&] { return place_of(run.model, head); });
  const TokenCircuits circuits = token_circuits(run.model, head);
  const Tensor& matrix = flags.matrix == "qk" ? circuits.qk : circuits.ov;
  std::vector<std::string> names;
  for (std::int32_t v = 0; v < run.model.config().vocab; ++v)
    names.push_back(run.task->token_text(v));
  const Index target = flags.matrix == "qk" ? 0 : flags.target;
  const std::string shown =
      token_matrix_text(matrix, names, target, {.color = stdout_wants_color()});
  if (!flags.common.json) {
    print(shown + "\n" + flags.matrix + " of head " + flags.head + "\nagain: " + command + "\n");
    return 0;
  }
  Json json = Json::object();
  json["headlab"] = version();
  json["layer"] = head.layer;
  json["head"] = head.head;
  json["tokens"] = Json(names);
  Json& rows = json[flags.matrix] = Json::array();
  const Index width = matrix.size(1);
  for (Index i = 0; i < matrix.size(0); ++i) {
    const Scalar* row = matrix.data() + i * width;
    rows.push_back(Json(std::vector<Scalar>(row, row + width)));
  }
  json["command"] = command;
  print(json);
  return 0;
}

struct ExampleFlags {
  Index examples = 512;
  CommonFlags common;

  Settings settings(const char* help) {
    Settings s;
    s.integer("examples", examples, 2, 1 << 24, help);
    s.add(common.settings());
    return s;
  }
};

}  // namespace

int circuits_command(Arguments arguments) {
  CircuitFlags flags;
  const Settings settings = flags.settings();
  if (wants_help(arguments)) return print_help("circuits", "RUN", settings);
  const auto paths = parse_arguments(arguments, signature_of("circuits", {"RUN"}), settings);
  if (!flags.head.empty()) parse_head("--head", flags.head);
  if (flags.matrix != "ov" && flags.matrix != "qk") {
    const Error unknown = unknown_name("matrix", flags.matrix, {"ov", "qk"});
    throw UsageError(unknown.what(), unknown.hint());
  }
  flags.common.apply();
  const Run run = open_run(paths[0]);
  const Index vocab = run.model.config().vocab;
  require(vocab <= kLargestVocabulary, "the vocabulary has ", vocab,
          " tokens: matrices over it are made for at most ", kLargestVocabulary);
  const std::string command = again("circuits", arguments);
  if (!flags.head.empty()) return show_matrix(run, flags, command);
  const CircuitsReport report = find_circuits(run.model, flags.options);
  Finding found{"circuits.json", report, circuits_text(report),
                text("from the weights alone; ", flags.options.draws, " random pairs, seed ",
                     flags.options.seed)};
  return keep(run, std::move(found), command, flags.common);
}

int attribute_command(Arguments arguments) {
  ExampleFlags flags;
  const Settings settings = flags.settings("held-out examples");
  if (wants_help(arguments)) return print_help("attribute", "RUN", settings);
  const auto paths = parse_arguments(arguments, signature_of("attribute", {"RUN"}), settings);
  flags.common.apply();
  const Run run = open_run(paths[0]);
  const AttributionReport report = attribute_logits(run.model, *run.task, flags.examples);
  Finding found{"attribution.json", report, attribution_text(report),
                text(flags.examples, " held-out examples, the same every time")};
  return keep(run, std::move(found), again("attribute", arguments), flags.common);
}

int patch_command(Arguments arguments) {
  ExampleFlags flags{.examples = 64, .common = {}};
  const Settings settings =
      flags.settings("held-out examples as clean inputs; as many others are the corrupted ones");
  if (wants_help(arguments)) return print_help("patch", "RUN", settings);
  const auto paths = parse_arguments(arguments, signature_of("patch", {"RUN"}), settings);
  flags.common.apply();
  const Run run = open_run(paths[0]);
  const Index n = flags.examples;
  const Batch all = held_out_examples(*run.task, 2 * n).batch;
  const PatchReport report = patch_activations(run.model, all.rows(0, n), all.rows(n, 2 * n));
  Finding found{"patching.json", report,
                patching_text(report, {.color = stdout_wants_color()}),
                text(n, " pairs of held-out examples, the same every time; ", report.targets,
                     " targets that differ")};
  return keep(run, std::move(found), again("patch", arguments), flags.common);
}

}  // namespace headlab::cli
