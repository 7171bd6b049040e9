// Tokens: the variables, the digits, then = ; and ?. Statement i has the four tokens from 4 i, and
// each question two, so that only their number varies between sequences; shorter ones are padded
// with variable 0. Read next: the opening of assign.h, for the definition.
#include "headlab/tasks/assign.h"

#include "headlab/base/error.h"
#include "tasks/parts.h"

namespace headlab {
namespace {

constexpr std::string_view kSigns = "=;?";
enum : std::size_t { kDefinition, kOrigin, kName };  // the relations

/// A variable that has been defined.
struct Variable {
  std::int32_t name, value;
  Index at;      // the position right of =
  Index origin;  // the position of the digit that its value comes from
  Index chain;   // statements from there to here
};

/// Writes one program into sequence b.
class Writer {
 public:
  Writer(const AssignOptions& options, Example& example, Index b)
      : options_(options), example_(example), b_(b) {}

  void define(std::int32_t name, Generator& random) {
    const Index t = put(name);
    put_sign('=');
    example_.gold[kName].add(b_, t + 2, id(t));
    Variable made{name, id(random.below(options_.values)), t + 2, t + 2, 1};
    if (const Variable* source = draw_source(random)) {
      made.value = source->value;
      made.origin = source->origin;
      made.chain = source->chain + 1;
      use(*source);
    } else {
      put(id(options_.variables) + made.value);
    }
    put_sign(';');
    defined_.push_back(made);
  }

  void ask(Generator& random) {
    use(defined_[random.below(static_cast<Index>(defined_.size()))]);
    put_sign('?');
  }

 private:
  Index put(std::int32_t token) {
    example_.batch.token(b_, next_) = token;
    return next_++;
  }

  void put_sign(char sign) {
    put(id(options_.variables + options_.values + static_cast<Index>(kSigns.find(sign))));
  }

  /// Half of the statements copy a variable, one of those whose chain may still grow; the others
  /// (and the first) have no source.
  const Variable* draw_source(Generator& random) const {
    std::vector<const Variable*> sources;
    for (const Variable& variable : defined_)
      if (variable.chain < options_.depth) sources.push_back(&variable);
    if (sources.empty() || random.below(2) == 0) return nullptr;
    return sources[random.below(static_cast<Index>(sources.size()))];
  }

  void use(const Variable& variable) {
    const Index t = put(variable.name);
    example_.batch.target(b_, t) = id(options_.variables) + variable.value;
    example_.gold[kDefinition].add(b_, t, id(variable.at));
    if (variable.origin != variable.at) example_.gold[kOrigin].add(b_, t, id(variable.origin));
  }

  const AssignOptions& options_;
  Example& example_;
  Index b_;
  Index next_ = 0;
  std::vector<Variable> defined_;
};

}  // namespace

Settings settings_of(AssignOptions& o) {
  Settings s;
  s.integer("variables", o.variables, 1, 1 << 16, "names that a variable may have");
  s.integer("values", o.values, 1, 1 << 16, "digits that a value may be");
  s.integer("shortest", o.shortest, 2, 8192, "fewest statements");
  s.integer("longest", o.longest, 2, 8192, "most statements");
  s.integer("queries", o.queries, 1, 8192, "variables that are asked for at the end");
  s.integer("depth", o.depth, 2, 8192, "most statements in a chain");
  return s;
}

AssignTask::AssignTask(const AssignOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "assign");
  const AssignOptions& o = options_;
  require(o.shortest <= o.longest, "shortest ", o.shortest, " must not exceed longest ", o.longest);
  require(o.longest <= o.variables, o.longest, " statements that each define a new variable need ",
          "variables ", o.longest, " or more, got ", o.variables);
}

std::string AssignTask::spec() const { return spec_text("assign", options_); }

TaskShape AssignTask::shape() const {
  const Index signs = static_cast<Index>(kSigns.size());
  return {Architecture::decoder, options_.variables + options_.values + signs,
          4 * options_.longest + 2 * options_.queries, 1};
}

std::vector<Relation> AssignTask::relations() const {
  return {{"definition", "what stands right of = where the variable is defined", false},
          {"origin", "the digit at the end of a chain of definitions", false},
          {"name", "the variable left of =, for the token right of it", true}};
}

Example AssignTask::make(Key key, Index count, Split split) const {
  const auto write = [this](Example& example, Index b, Generator& random) {
    Writer program(options_, example, b);
    const Index statements = random.between(options_.shortest, options_.longest);
    const auto names = draw_distinct(options_.variables, statements, random);
    for (Index i = 0; i < statements; ++i) program.define(names[i], random);
    for (Index q = 0; q < options_.queries; ++q) program.ask(random);
    example.batch.lengths.push_back(id(4 * statements + 2 * options_.queries));
  };
  return make_sequences(*this, key, count, split, write);
}

std::string AssignTask::token_text(std::int32_t token) const {
  check_token(token, shape().vocab);
  const Index digit = token - options_.variables, sign = digit - options_.values;
  if (digit < 0) return letter_text(token, options_.variables);
  return sign < 0 ? std::to_string(digit) : std::string(1, kSigns[sign]);
}

}  // namespace headlab
