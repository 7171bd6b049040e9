// Associative recall of many pairs (MQAR: Arora et al. 2023, "Zoology: Measuring and improving
// recall in efficient language models"): a sequence lists `pairs` keys, each followed by its value,
// and then asks for `queries` of these keys in random order; each is answered by its value. Keys
// are the first half of the vocabulary, values the second; both are drawn without repetition.
// Truth: at a query `association` is the position of the value, right behind the key. To be found
// there, a value must know which key came before it: `previous`, asked at the values.
// Trap: a head of the second layer that looks at the *key* of the pair finds the same token, and a
// detector of that would name it; but the answer is not there, so it is not counted here.
// Five seeds: accuracy 1.000, mass .998 (association) and .92 to .98 (previous). One layer: .125.
// Read next: src/tasks/recall.cc.
#pragma once

#include "headlab/base/settings.h"
#include "headlab/tasks/task.h"

namespace headlab {

struct RecallOptions {
  Index pairs = 8;
  Index queries = 8;
  Index vocab = 32;
};
Settings settings_of(RecallOptions& options);

class RecallTask : public Task {
 public:
  using Options = RecallOptions;
  /// Errors: more pairs than keys in the vocabulary; more queries than pairs.
  explicit RecallTask(const RecallOptions& options = {});

  std::string spec() const override;
  TaskShape shape() const override;
  std::vector<Relation> relations() const override;
  Index needed_heads() const override { return 2; }  // one in each of two layers
  std::vector<std::string> target_names() const override { return {"value"}; }
  Example make(Key key, Index count, Split split) const override;
  std::string token_text(std::int32_t token) const override;

 private:
  RecallOptions options_;
};

}  // namespace headlab
