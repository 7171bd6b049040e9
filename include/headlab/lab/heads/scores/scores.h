// Scores of all heads on ground-truth relations. Compares the model's attention patterns on
// held-out examples with the ground-truth keys of the task. The head for a relation is chosen on
// the even examples (split A) and all numbers are reported on the odd ones (split B), to avoid
// selection bias. score_table() lists all scores; JSON, tables and lists are made from its rows.
// Read next: src/lab/heads/scores/score_table.cc, src/lab/heads/scores/scores_result.cc.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/core/tasks/task.h"
#include "headlab/lab/heads/causes/interventions.h"
#include "headlab/lab/results/members.h"
#include "headlab/lab/results/table.h"
#include "headlab/lab/runs/guards.h"

namespace headlab {

inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Thresholds for owners. A head owns a relation if its p, corrected for the number of relations,
/// is below kOwnerP and its lift is at least kOwnerLift. Significance alone is not enough: on a
/// task without anything to learn nearly every trained head differs from chance, at a useless
/// attention mass.
inline constexpr double kOwnerP = 0.01;
inline constexpr double kOwnerLift = 0.3;
/// Minimum lift of a head that is responsible for a relation in part, alone or with others.
inline constexpr double kPartLift = 0.1;
/// Minimum number of examples for a conclusion, a label or a p: with a single query, a head that
/// finds the key by chance would have a share of 100%.
inline constexpr Index kFewestExamples = 10;

/// Score of one head on one relation, on one split.
struct RelationScore {
  Index queries = 0;   // eligible queries whose ground-truth keys belong to no other relation with
                       // the same query
  Index examples = 0;  // number of sequences with such a query
  /// Attention mass: mean attention on the ground-truth keys, over these queries. It and the next
  /// three are NaN if there is no such query.
  double mass = kUndefined;
  double mass_all = kUndefined;  // the same over all eligible queries
  double top1 = kUndefined;  // share of these queries whose largest weight is on a ground-truth key
  double baseline = kUndefined;  // mass of the strongest baseline
  /// (mass - baseline) / (1 - baseline): 1 for a perfect head, 0 for the baseline; NaN if baseline
  /// = 1.
  double lift = kUndefined;
  /// p of the statement that the head attends to the ground truth: the larger of the next two. On
  /// split B only, NaN if there are too few examples.
  double p = kUndefined;
  /// Share of permutations of the ground truth that give some head this much mass (see
  /// score_heads).
  double p_permuted = kUndefined;
  /// One-sided p of a lift of at most kPartLift, over examples: chance alone gives a trained head a
  /// useless lift, which permutations tell apart from none.
  double p_lift = kUndefined;
  double p_holm = kUndefined;  // p corrected for the number of relations: Holm 1979
  bool at_guessing = false;    // whether the guard `guessing` refuses conclusions on the relation

  bool enough() const { return examples >= kFewestExamples; }
  /// Returns whether the pattern of a head with this score on split B is that of an owner.
  bool looks_like_owner() const { return p_holm < kOwnerP && lift >= kOwnerLift; }
  /// Returns whether a head with this score on split B owns the relation.
  bool owns() const { return looks_like_owner() && !at_guessing; }
};

/// Scores of one head. Scores that need no ground truth are computed on split B too.
struct HeadScores : HeadId {
  std::vector<RelationScore> chosen_on{};  // by relation, on split A
  std::vector<RelationScore> relations{};  // by relation, on split B
  /// Score of this head for each row of score_table(). NaN for rows without a number, for keys that
  /// no query asks for, and for scores that were not computed.
  std::vector<double> values{};
  Index rows = 0;  // number of queries on split B over which scores without ground truth are means
  std::vector<Index> pattern_queries{};  // by row of score_table(): queries that ask for such keys
  struct Offset {
    Index offset = 0;  // key - query
    double share = 0;  // share of the queries that see a key at this offset and another key; labels
                       // count the same queries
    Index count = 0;   // number of such queries
  };
  std::vector<Offset> offsets{};      // most frequent first
  std::vector<std::string> labels{};  // "positional -1", "syntactic same", "rare"
  std::string like{};                 // known pattern with the largest score, if that is above 1/2

  /// Returns the score of this name, such as "entropy". Error for a name without a row.
  double value(std::string_view name) const;
};

/// Baseline that needs no model: always the same offset, or always the nearest candidate.
struct Baseline {
  double top1 = kUndefined;                   // share of the queries that the baseline finds
  Index wrong = 0;                            // number of queries that it does not find
  double head_top1_where_wrong = kUndefined;  // share of those queries that the best head finds

  void members(auto&& f) {
    f("top1", top1), f("wrong", wrong), f("best_top1_where_wrong", head_top1_where_wrong);
  }
};

struct RelationWinner {
  Relation relation;
  std::size_t best = 0;  // index of the head in `heads` with the largest mass on split A
  bool owned = false;    // whether the best head owns the relation
  /// Whether every sequence has the same keys although the relation is not positional. The baseline
  /// then reaches the same keys, and nothing is left to test.
  bool fixed_keys = false;
  /// Loss of the model at the relation's targets; empty if losses are not known.
  std::optional<AgainstGuessing> guessing{};
  double p = kUndefined;  // of the best head
  Index candidates = 0;   // heads of the relation's kind of attention; 0: no head can implement it
  /// Mean over split B of the largest mass of any head at a query. If it is well above the best
  /// head's mass, several heads share the relation, each for some of the queries.
  double mass_any = kUndefined;
  Index exchanges = 0;                 // mass of the best head at initial values
  double mass_untrained = kUndefined;  // mass of the best head at initial values
  double lift_untrained = kUndefined;  // (mass - mass_untrained) / (1 - mass_untrained)
  Index best_offset = 0;               // key - query, chosen on split A
  Baseline offset{},
      nearest{};  // best fixed offset; nearest candidate, if the task names candidates
  /// Head that one-to-one assignment gives to the relation, and whether it owns it.
  std::optional<std::size_t> assigned{};
  bool assigned_owns = false;
};

/// Distribution of a relation over several heads if no head implements it alone, and the classes of
/// queries by which it is split. At each query, each head has a share of the mass that all of them
/// give to the ground-truth keys. If all heads attend alike and differ only in strength, the shares
/// are equal at all queries.
struct Division {
  /// Heads share a relation if none has a lift of kAlone, and two or more have, on both splits, p <
  /// kOwnerP and a lift of at least kLeastLift and kLeastPart of the best head's lift.
  static constexpr double kAlone = 0.8, kLeastLift = kPartLift, kLeastPart = 0.25;
  /// A kind of class splits the relation if classes explain kLeastExplained of the variance of the
  /// index of the relation
  static constexpr double kLeastExplained = 0.3;

  std::size_t relation = 0;          // its index
  std::vector<std::size_t> heads{};  // indices, in the order of the report
  /// Share of the queries of split B at which the largest weight of at least one of these heads is
  /// on a ground-truth key.
  double together = kUndefined;
  Index queries = 0;  // number of scored queries of split B
  double spread = 0;  // standard deviation of the shares; below kLeastSpread the heads attend alike
  static constexpr double kLeastSpread = 0.1;
  struct Kind {
    const char* name;  // "token of the key"
    /// Share of the variance on split B (weighted by mass) that the mean shares of the classes on
    /// split A explain; for "example", the share that every second query of an example explains of
    /// the others.
    double explained = kUndefined;
    double p = kUndefined;  // share of shuffles of the classes that explain as much
    bool divides() const { return explained >= kLeastExplained && p < kOwnerP; }
    void members(auto&& f) { f("name", name), f("explained", explained), f("p", p); }
  };
  std::vector<Kind> kinds{};
  std::size_t best =
      0;  // index of the kind that explains most on split A, from its means on split B
  struct Class {
    std::string name;
    Index queries = 0;           // on split B
    std::vector<double> mass{};  // mean mass of each head
    /// Increase of the loss at the queries of the class, in nats, when each of the heads is
    /// ablated. Empty unless options.rises, and for relations whose queries have no targets of
    /// their own.
    std::vector<double> rise{};

    void members(auto&& f) {
      f("class", name), f("queries", queries), f("mass", mass), f("rise", rise);
    }
  };
  std::vector<Class> classes{};  // classes of the best kind; none for "example"

  /// Returns the kind of class that splits the relation, such as "token of the key"; "" if none
  /// does.
  std::string by() const {
    return spread >= kLeastSpread && kinds[best].divides() ? kinds[best].name : "";
  }
  /// Returns "by token of the key", "not split" or "by no known class".
  std::string how() const {
    if (!by().empty()) return "by " + by();
    return spread < kLeastSpread ? "not split" : "by no known class";
  }
};

/// Returns the agreement of two models on the split of a relation, independent of the numbering of
/// their heads: the adjusted Rand index over the classes that both have, each assigned to the head
/// with the most mass. 1 for the same split, 0 for chance, NaN if one head has all classes. Source:
/// Hubert and Arabie 1985.
double agreement(const Division& a, const Division& b);

struct HeadsReport {
  std::vector<std::string> attention{};  // names of the attention layers, which `layer` indexes
  std::vector<HeadScores> heads{};
  std::vector<RelationWinner> relations{};  // empty if the model has no head
  Index examples = 0;                       // number of scored examples
  Index different = 0;  // number of different examples of the task; 0 if unlimited
  Index permutations = 0;
  std::vector<Division> divisions{};  // one for each relation that heads share
  /// Share of the relations that can be judged (is_judged) whose assigned head owns them; NaN if
  /// there are none.
  double specialization = kUndefined;
  /// Mean Jensen-Shannon distance of patterns, [heads, heads]; NaN between kinds of attention.
  /// index of the head
  std::vector<double> distances{};

  const RelationScore& best_score(std::size_t r) const {
    return heads[relations[r].best].relations[r];
  }
  /// Returns whether enough examples ask for relation r, with keys that are not the same in every
  /// sequence.
  bool is_judged(std::size_t r) const { return best_score(r).enough() && !relations[r].fixed_keys; }
  /// Returns whether relation r has enough examples, but nothing to test: every sequence has the
  /// same keys.
  bool is_untested(std::size_t r) const {
    return best_score(r).enough() && relations[r].fixed_keys;
  }
  struct Nearest {
    std::size_t head = 0;  // its index
    double distance = 0;
  };
  /// Returns the head of the same kind of attention with the smallest distance to head h; nothing
  /// if there is no other head, or if distances were not measured.
  std::optional<Nearest> nearest_to(std::size_t h) const;
  /// Returns the distribution of relation r over heads; nullptr if one head has it alone.
  const Division* division_of(std::size_t r) const;
  /// Returns the role of head h in relation r: "owner"; "shares" if several heads share the
  /// relation; "also" if it attends to the keys as an owner must, but another head attends more;
  /// or "". Text, page and pictures mark heads by it.
  const char* role(std::size_t h, std::size_t r) const;
  /// Returns a sentence: "0.0 and 0.1 implement `larger`: by token of the key (.81 of it), together
  /// .99".
  std::string sentence(const Division& division) const;
};
/// Returns the content of heads.json: the result with everything.
Json to_json(const HeadsReport& report);
/// Parts that text shows in addition to the best head of each relation. Each of them shows every
/// head, with entropy, focus, and mass and lift on each relation, as does a task without relations.
struct HeadsShown {
  bool scores = false;  // scores that need no ground truth
  bool map = false;     // map of heads with similar patterns
  bool all = false;     // both, and every relation even if there are more than 16
};
/// Returns the report as tables: heads with all their scores (those not shown are hidden columns),
/// and relations with their best heads.
Result result_of(const HeadsReport& report, const HeadsShown& shown = {});

/// Returns the diversity of the heads: the mean of report.distances over pairs of heads of one kind
/// of attention; NaN if there is no pair.
double diversity_of(const HeadsReport& report);

struct HeadsOptions {
  /// Maximum number of examples; fewer if the task has fewer different ones. Time is proportional.
  Index examples = 512;
  Index batch = 64;  // sequences in a forward pass; changes the result by rounding only
  /// Permutations of the ground truth, for p, whose smallest value is 1 / (permutations + 1). Time
  /// is proportional; the minimum is 199. Relations that may have an owner and that none of them
  /// decides get 100 for each tested relation, so that the corrected p can fall below kOwnerP.
  Index permutations = 199;
  /// Model of the same architecture at its initial values (initial_model), for lift_untrained.
  const HeadedModel* untrained = nullptr;
  bool without_truth =
      true;  // whether to compute scores without ground truth other than entropy and focus
  bool rises = false;  // whether to ablate heads that share a relation; see Division::Class
  /// Whether to judge patterns alone, without the guard `guessing`: for patterns without losses.
  bool patterns_only = false;
};

/// Scores every head. Baseline: for a positional relation, the mean share of ground-truth keys
/// among the keys that the head sees (uniform attention); for other relations, the largest of that,
/// of the best fixed offset (chosen on split A), and of the head's pattern averaged over split A at
/// each query position. p = (1 + n) / (1 + permutations), n: permutations of the ground truth on
/// which some head has as much mass as this one, on split B. Ground-truth sets are exchanged among
/// queries at the same position that see as many keys (positional: redrawn among the keys that some
/// head sees). If few exchanges are possible, p stays large. p_holm: for relation k in the order of
/// their smallest p, p times the number of relations left. Only heads of the relation's kind of
/// attention count. One-to-one assignment: the largest sum of masses on split A. Labels: the
/// criteria of Voita et al. 2019, see score_table(). No head owns a relation, and no heads share
/// it, unless the model beats guessing on the scored examples (against_guessing). Errors: fewer
/// than two examples; fewer than 199 permutations. Source of the maximum over heads: Westfall and
/// Young 1993, single-step maxT.
HeadsReport score_heads(const HeadedModel& model, const Task& task,
                        const HeadsOptions& options = {});

struct PatternQuery;  // a query and the keys that it sees; see
                      // src/lab/heads/scores/scored_queries.h
struct HeadSums;  // sums over the rows of a head's pattern; see src/lab/heads/scores/head_sums.h

/// Well-known pattern as data, so that a page can draw it too. "near": query t asks for the keys at
/// offsets `from` to `to`, each with weight 1 / (1 + |offset|). "key": for key number `from`.
/// "repeat": for the keys `from` after other occurrences of its token. nullptr: no such pattern.
struct KnownPattern {
  const char* rule = nullptr;
  Index from = 0, to = 0;
};

/// Computation of a score: at most one of the three functions is set.
struct ScoreSource {
  /// From the tokens alone: how much the query asks for key s, 0 if it does not. The score is the
  /// mean attention on these keys, at queries that ask for some but not all of the keys they see.
  double (*weight)(const PatternQuery& query, Index s) = nullptr;
  /// From the sums gathered for a head.
  double (*value)(const HeadSums& head) = nullptr;
  /// From the head's score on one relation.
  double (*relation)(const RelationScore& score) = nullptr;
  bool always = false;  // `value`: computed even without options.without_truth
  /// `value`: left out of JSON and tables if it is NaN for every head.
  bool optional = false;
  bool hidden = false;  // in JSON and CSV only, not in text
  bool label =
      false;  // `weight`: heads whose argmax finds these keys get the score's name as a label
  KnownPattern known{};  // the known pattern that `weight` computes, if any
};

/// One score, with everything from its name in JSON to its format in tables. A row without a
/// function describes a part of the report that is not a single number.
struct ScoreEntry {
  const char* name;  // its member in JSON
  const char* meaning;
  ScoreSource from{};
  int decimals = 2;  // in tables
};
/// Returns the table of all scores. To add a score, add a row.
std::span<const ScoreEntry> score_table();
/// Returns the scores added by a program that uses this library. Fill it before the table is first
/// read.
std::vector<ScoreEntry>& own_scores();

/// Attention mass on the ground-truth keys of each relation, example by example.
struct ExampleMasses {
  Index relations = 0, heads = 0, examples = 0;
  std::vector<float> values;  // [relations, heads, examples]; NaN if the example has no such query
                              // or the head is of another kind of attention
};
/// Returns the masses on the examples of score_heads, over the queries that count for its mass. It
/// chooses heads on the even examples and reports on the odd ones.
ExampleMasses masses_by_example(const HeadedModel& model, const Task& task, Index examples = 512);

}  // namespace headlab
