// What each head looks at, scored against the truth. The model's own attention patterns over
// held-out examples are held against the gold of the task's relations. The head for a relation is
// chosen on the even examples (split A) and all numbers are reported on the odd ones (split B), so
// that choosing does not flatter. Which scores there are says score_table(): JSON, tables and lists
// walk its rows. Read next: src/lab/heads/scores/score_table.cc,
// src/lab/heads/scores/scores_finding.cc.
#pragma once

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "headlab/base/members.h"
#include "headlab/base/table.h"
#include "headlab/heads/edits.h"
#include "headlab/tasks/task.h"

namespace headlab {

inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// A head owns a relation if its p, corrected for the number of relations, is below kOwnerP and its
/// lift is at least kOwnerLift.
/// Significance alone is no proof: on a task without anything to learn nearly every trained head
/// differs from chance, at a mass that is of no use.
inline constexpr double kOwnerP = 0.01;
inline constexpr double kOwnerLift = 0.3;
/// The fewest examples on which a verdict, a label or a p may rest: with one query, a head that
/// finds it by chance would have a share of 100%.
inline constexpr Index kFewestExamples = 10;

/// How well one head finds one relation, on one split.
struct RelationScore {
  Index queries = 0;    // eligible queries whose gold keys no other relation asked there shares
  Index examples = 0;   // different sequences with such a query
  double mass = 0;      // mean attention on the gold keys, over these queries
  double mass_all = 0;  // over all eligible queries
  double top1 = 0;      // share of these queries whose largest weight lies on a gold key
  double null = 0;      // mass of the strongest null
  /// (mass - null) / (1 - null): 1 for a perfect head, 0 for the null; NaN where null = 1.
  double lift = kUndefined;
  /// The share of permuted golds that give some head this much mass (see score_heads); on split B
  /// only, and NaN where there are too few examples.
  double p = kUndefined;
  double p_holm = kUndefined;  // the same corrected for the number of relations: Holm 1979

  /// Whether it rests on enough examples for a verdict.
  bool enough() const { return examples >= kFewestExamples; }
  /// Whether a head with this score on split B owns the relation.
  bool owns() const { return p_holm < kOwnerP && lift >= kOwnerLift; }
};

/// One head. What needs no gold is taken over split B as well.
struct HeadScores : HeadId {
  std::vector<RelationScore> chosen_on{};  // by relation, on split A
  std::vector<RelationScore> relations{};  // by relation, on split B
  /// By row of score_table(): its number for this head. NaN for rows without one, for keys that no
  /// query asks for, and for what was not scored.
  std::vector<double> values{};
  struct Offset {
    Index offset = 0;  // key - query
    double share = 0;  // of the queries that see a key there, and another: so for labels as well
    Index count = 0;   // of such queries
  };
  std::vector<Offset> offsets{};      // the commonest first
  std::vector<std::string> labels{};  // "positional -1", "syntactic same", "rare"
  std::string like{};  // the pattern of the table with the largest score, if that is above 1/2

  /// The value of a score by its name, such as "entropy". Error for a name without a row.
  double value(std::string_view name) const;
};

/// A baseline that needs no model: always the same offset, or always the nearest candidate.
struct Baseline {
  double top1 = kUndefined;                   // share of the queries that the baseline finds
  Index wrong = 0;                            // queries that it does not find
  double head_top1_where_wrong = kUndefined;  // what the best head finds of those

  void members(auto&& f) {
    f("top1", top1), f("wrong", wrong), f("best_top1_where_wrong", head_top1_where_wrong);
  }
};

struct RelationWinner {
  Relation relation;
  std::size_t best = 0;  // index of the head in `heads` with the largest mass on split A
  bool owned = false;    // whether the best head owns it
  /// Whether every sequence has the same keys although the relation is not positional. The null
  /// then knows the keys and leaves nothing to judge.
  bool fixed_keys = false;
  double p = kUndefined;  // of the best head
  Index candidates = 0;   // heads of the relation's kind; 0: no head can do it
  /// Mean over split B of the largest mass that any head has at a query: if it is well above the
  /// best head's, several heads share the relation, each taking some of the queries.
  double mass_any = 0;
  Index exchanges = 0;  // permutations of the gold that differ from it and each other
  double mass_untrained = kUndefined;  // of the best head at initial values
  double lift_untrained = kUndefined;  // (mass - mass_untrained) / (1 - mass_untrained)
  Index best_offset = 0;               // key - query, on split A
  Baseline offset{}, nearest{};  // the best offset; the nearest candidate, where the task names any
  /// The head that one-to-one assignment gives it, and whether that head owns it.
  std::optional<std::size_t> assigned{};
  bool assigned_owns = false;
};

/// How heads share a relation that none of them does alone: by what its queries are divided among
/// them. Of the mass that these heads give to the gold of a query, each has a share; if they all do
/// the same, only more or less of it, the shares are equal at all queries.
struct Division {
  /// Heads share a relation if none of them has a lift of kAlone, and two or more have a lift of
  /// kLeastLift and of kLeastPart of the best one's, and p < kOwnerP, on both splits.
  static constexpr double kAlone = 0.8, kLeastLift = 0.1, kLeastPart = 0.25;
  /// A kind of class divides it if classes explain kLeastExplained of the variance of the shares,
  /// and shuffled classes explain as much with p < kOwnerP. Otherwise it is divided by none.
  static constexpr double kLeastExplained = 0.3;

  std::size_t relation = 0;          // its index
  std::vector<std::size_t> heads{};  // indices, in the order of the report
  /// Share of the queries of split B at which one of these heads has its largest weight on the
  /// gold.
  double together = 0;
  double spread = 0;  // standard deviation of the shares; below kAlike they are all alike
  static constexpr double kAlike = 0.1;
  struct Kind {
    const char* name;  // "token of the key"
    /// Share of the variance on split B (weighted by mass) that the mean shares of the classes on
    /// split A explain; for "example", those of every second query the others.
    double explained = kUndefined;
    double p = kUndefined;  // how often shuffled classes explain as much
    bool divides() const { return explained >= kLeastExplained && p < kOwnerP; }
    void members(auto&& f) { f("name", name), f("explained", explained), f("p", p); }
  };
  std::vector<Kind> kinds{};
  std::size_t best = 0;  // of them: explains most on split A, by its means on split B
  struct Class {
    std::string name;
    Index queries = 0;           // on split B
    std::vector<double> mass{};  // of each of the heads, mean
    /// Of the loss at its queries, in nats, when each of the heads is silenced; empty unless
    /// options.rises, and for relations whose queries have no targets of their own.
    std::vector<double> rise{};

    void members(auto&& f) {
      f("class", name), f("queries", queries), f("mass", mass), f("rise", rise);
    }
  };
  std::vector<Class> classes{};  // of the best kind; none for "example"

  /// "token of the key", or "" where no kind divides it.
  std::string by() const {
    return spread >= kAlike && kinds[best].divides() ? kinds[best].name : "";
  }
  /// "by token of the key", "all alike" or "by nothing that is known".
  std::string how() const {
    if (!by().empty()) return "by " + by();
    return spread < kAlike ? "all alike" : "by nothing that is known";
  }
};

/// Whether two models divide a relation alike, whichever of their heads does what: the adjusted
/// Rand index of the classes that both have, each in the part of the head that gives it most; 1 for
/// the same parts, 0 as by chance, NaN where one part has all. Source: Hubert and Arabie 1985.
double likeness(const Division& a, const Division& b);

struct HeadsReport {
  std::vector<std::string> attention{};  // names of the attention modules: what `layer` counts
  std::vector<HeadScores> heads{};
  std::vector<RelationWinner> relations{};  // empty if the model has no head
  Index examples = 0;                       // that were scored
  Index different = 0;  // that the task has, where their number is finite; 0: no end
  Index permutations = 0;
  std::vector<Division> divisions{};  // of the relations that heads share
  /// Share of the relations with examples enough for a verdict whose assigned head owns them.
  double specialization = kUndefined;
  /// [heads, heads]: mean Jensen-Shannon distance of their patterns; NaN between kinds of
  /// attention. Empty unless options.without_gold.
  std::vector<double> distances{};

  /// The score of the best head for relation r.
  const RelationScore& best_score(std::size_t r) const {
    return heads[relations[r].best].relations[r];
  }
  struct Nearest {
    std::size_t head = 0;  // its index
    double distance = 0;
  };
  /// The head of the same kind of attention whose patterns are most like those of head h; nothing
  /// if there is no other, or distances were not measured.
  std::optional<Nearest> nearest_to(std::size_t h) const;
  /// How relation r is shared; nullptr if it is not.
  const Division* division_of(std::size_t r) const;
  /// "0.0 and 0.1 share `larger`: by token of the key (.81 of it), together .99".
  std::string sentence(const Division& division) const;
};
Json to_json(const HeadsReport& report);
/// What text shows of it besides entropy, focus, and each relation's mass and lift.
struct HeadsShown {
  bool scores = false;  // the scores that need no gold
  bool map = false;     // which heads look at the same keys
  bool all = false;     // both, and every relation where there are more than 16
};
/// The same with its tables: heads with all their scores, those that are not shown being hidden
/// columns, and relations with their best heads.
Finding finding_of(const HeadsReport& report, const HeadsShown& shown = {});

/// How different the heads are: the mean of report.distances over pairs of heads of one kind of
/// attention, 0 of no pair.
double diversity_of(const HeadsReport& report);

struct HeadsOptions {
  /// At most so many; fewer where the task has fewer different ones. Time grows in proportion.
  Index examples = 512;
  Index batch = 64;  // in one forward pass; the result does not depend on it beyond rounding
  /// Permutations of the gold, for p, whose smallest value is 1 / (permutations + 1). Time grows in
  /// proportion; 199 are the fewest. Relations that may have an owner and that none of them decides
  /// get 100 for each relation that is judged, so that p corrected for their number can be below
  /// kOwnerP.
  Index permutations = 199;
  /// The same architecture at its initial values (initial_model), for lift_untrained.
  const HeadedModel* untrained = nullptr;
  bool without_gold = true;  // whether to score what needs no gold, beside entropy and focus
  bool rises = false;        // whether to silence heads that share a relation; see Division::Class
};

/// Scores every head. The null is the mean share of gold among the keys that the head sees (uniform
/// attention) for a positional relation; for others the largest of that, of the best fixed offset
/// (chosen on split A), and of the head's pattern averaged over split A at each query position. p =
/// (1 + n) / (1 + permutations), n: permuted golds on which some head has as much mass as this one,
/// on split B. Gold sets are exchanged among queries at the same position that see as many keys
/// (positional: redrawn among the keys that some head sees). Where few exchanges are possible, p
/// stays large. p_holm: of relation k in the order of their smallest p, p times the number of those
/// that are left. Only heads of the relation's kind of attention count. One-to-one assignment: the
/// largest sum of masses on split A. Labels: the criteria of Voita et al. 2019, see score_table().
/// Errors: fewer than two examples; fewer than 199 permutations. Source: maximum over heads:
/// Westfall and Young 1993, single-step maxT.
HeadsReport score_heads(const HeadedModel& model, const Task& task,
                        const HeadsOptions& options = {});

struct PatternQuery;  // a query and the keys that it sees; see src/lab/heads/scores/asked_gold.h
struct HeadSums;  // sums over the rows of a head's pattern; see src/lab/heads/scores/head_sums.h

/// A pattern that heads are known for, as data, for a page draws it too: query t asks for "near",
/// the keys at offsets `from` to `to`, each with 1 / (1 + |offset|); "key", the key number `from`;
/// "repeat", the keys `from` after other places of its token. nullptr: no such pattern.
struct KnownPattern {
  const char* rule = nullptr;
  Index from = 0, to = 0;
};

/// How a score is computed: at most one of the three functions is set.
struct ScoreSource {
  /// Read off the tokens alone: how much the query asks for key s, 0 if it does not. The score is
  /// the mean attention on the keys asked for, at queries that ask for some but not all of the keys
  /// they see.
  double (*weight)(const PatternQuery& query, Index s) = nullptr;
  /// From what was gathered of a head.
  double (*value)(const HeadSums& head) = nullptr;
  /// From the score on one relation.
  double (*relation)(const RelationScore& score) = nullptr;
  bool always = false;  // `value`: scored without options.without_gold too
  /// `value`: left out of JSON and tables if no head has it (is NaN).
  bool optional = false;
  bool hidden = false;   // in JSON and CSV only, not in text
  bool label = false;    // `weight`: heads whose argmax finds these keys bear the score's name
  KnownPattern known{};  // what `weight` computes, if it is one
};

/// One score, from its name to JSON and tables. A row without a function describes a part of the
/// report that is no single number.
struct ScoreEntry {
  const char* name;  // its member in JSON
  const char* meaning;
  ScoreSource from{};
  int decimals = 2;  // in tables
};
/// All scores. Adding one is adding a row.
std::span<const ScoreEntry> score_table();
/// The scores of a program that uses this library, to be filled before the table is first read.
std::vector<ScoreEntry>& own_scores();

/// Mean attention on the gold of each relation, example by example.
struct ExampleMasses {
  Index relations = 0, heads = 0, examples = 0;
  std::vector<float> values;  // [relations, heads, examples]; NaN: the example does not ask, or the
                              // head is of another kind of attention
};
/// On the examples of score_heads, over the queries that count for its mass; even examples are
/// those on which it chooses, odd ones those that it reports.
ExampleMasses masses_by_example(const HeadedModel& model, const Task& task, Index examples = 512);

}  // namespace headlab
