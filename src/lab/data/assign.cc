// Assign: toy code, "a=3;b=a;c=7;b?a?c?". Each statement defines a new variable, by a digit or by a
// variable before it; then variables are asked for. Wherever one is used (right of =, before ?),
// the target is its value. A chain of definitions has at most `depth` statements.
// Truth: `definition`, the token right of = where the used variable is defined; `origin`, the
// digit at the end of its chain, asked where that is another place; `name`, the variable left of
// =, asked at the token right of it, which has to know whose value it is.
// Trap: two circuits give the same answer. Values may be handed on along the chain, and a use reads
// its definition; or names are looked up until a digit is found, and a use reads the origin.
// Trained models hand them on. Read next: headlab/core/tasks/definition.h.
#include "headlab/core/tasks/definition.h"

namespace headlab {
namespace {

constexpr std::string_view kSigns = "=;?";

/// The relations.
enum : std::size_t { kDefinition, kOrigin, kName };

/// Tokens: the variables, the digits, then = ; and ?. Statement i has the four tokens from 4 i, and
/// each question two, so that only their number varies between sequences.
struct Assign {
  Index variables = 8, values = 10, shortest = 3, longest = 6, queries = 3, depth = 2;

  void bind(Settings& s) {
    s.integer("variables", variables, 1, 1 << 16, "names that a variable may have");
    s.integer("values", values, 1, 1 << 16, "digits that a value may be");
    s.integer("shortest", shortest, 2, 8192, "fewest statements");
    s.integer("longest", longest, 2, 8192, "most statements");
    s.integer("queries", queries, 1, 8192, "variables that are asked for at the end");
    s.integer("depth", depth, 2, 8192, "most statements in a chain");
  }
  void prepare() const {
    require(shortest <= longest, "shortest ", shortest, " must not exceed longest ", longest);
    require(longest <= variables, longest, " statements that each define a new variable need ",
            "variables ", longest, " or more, got ", variables);
  }
  TaskShape shape() const {
    return {Architecture::decoder, variables + values + std::ssize(kSigns),
            4 * longest + 2 * queries};
  }
  std::vector<Relation> relations() const {
    return {{"definition", "the token right of = where the variable is defined"},
            {"origin", "the digit at the end of a chain of definitions"},
            {"name", "the variable left of =, for the token right of it", true}};
  }
  std::vector<std::string> target_names() const { return {"value"}; }
  std::string token_text(Index token) const {
    const Index digit = token - variables, sign = digit - values;
    if (digit < 0) return letter_text(token);
    return sign < 0 ? std::to_string(digit) : std::string(1, kSigns[sign]);
  }
  void write(Sequence& s) const;
};

/// A variable that has been defined.
struct Variable {
  Index name, value;
  Index at;      // the position right of =
  Index origin;  // the position of the digit that its value comes from
  Index chain;   // statements from there to here
};

/// The program of a sequence, statement by statement.
struct Program {
  const Assign& task;
  Sequence& s;
  Index next = 0;  // position
  std::vector<Variable> defined = {};

  void define(Index name) {
    const Index t = put(name);
    put_sign('=');
    s.add_truth(kName, t + 2, t);
    Variable made{name, s.random.below(task.values), t + 2, t + 2, 1};
    if (const Variable* source = draw_source()) {
      made.value = source->value;
      made.origin = source->origin;
      made.chain = source->chain + 1;
      use(*source);
    } else {
      put(task.variables + made.value);
    }
    put_sign(';');
    defined.push_back(made);
  }

  void ask() {
    use(defined[s.random.below(std::ssize(defined))]);
    put_sign('?');
  }

  void use(const Variable& variable) {
    const Index t = put(variable.name);
    s.target(t) = id(task.variables + variable.value);
    s.add_truth(kDefinition, t, variable.at);
    if (variable.origin != variable.at) s.add_truth(kOrigin, t, variable.origin);
  }

  /// Half of the statements copy a variable, one of those whose chain may still grow; the others
  /// (and the first) have no source.
  const Variable* draw_source() {
    std::vector<const Variable*> sources;
    for (const Variable& variable : defined) {
      if (variable.chain < task.depth) sources.push_back(&variable);
    }
    if (sources.empty() || s.random.below(2) == 0) return nullptr;
    return sources[s.random.below(std::ssize(sources))];
  }

  Index put(Index token) {
    s.token(next) = id(token);
    return next++;
  }
  void put_sign(char sign) {
    put(task.variables + task.values + static_cast<Index>(kSigns.find(sign)));
  }
};

void Assign::write(Sequence& s) const {
  Program program{*this, s};
  const Index statements = s.random.between(shortest, longest);
  const auto names = draw_distinct(variables, statements, s.random);
  for (Index i = 0; i < statements; ++i) program.define(names[i]);
  for (Index q = 0; q < queries; ++q) program.ask();
  s.pad_behind(program.next);
}

}  // namespace

TaskEntry assign_task() {
  return task_entry(Assign{}, {"assign",
                               "toy code: the values of variables, through chains of definitions",
                               "layers=3 heads=4 d_model=64 d_ff=128 steps=2000 lr=1e-3 beta2=0.95",
                               {.accuracy = 0.99, .reached = 100, .seeds = 100}});
}

}  // namespace headlab
