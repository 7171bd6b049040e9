// Between bytes and tokens stand Unicode code points (characters.h). The file is held in memory as
// tokens, and a window is a slice of them; a vocabulary is sorted and found by bisection.
// Read next: the opening of text.h.
#include "headlab/tasks/text.h"

#include <algorithm>

#include "headlab/base/error.h"
#include "headlab/base/files.h"
#include "headlab/base/shipped.h"
#include "tasks/characters.h"
#include "tasks/parts.h"

namespace headlab {
Settings settings_of(TextOptions& o) {
  Settings s;
  s.text("file", o.file, "any text in UTF-8");
  s.integer("length", o.length, 1, 65536, "characters in a sequence");
  s.real("validation", o.validation, 0.001, 0.9, "share of the text that is held out, at its end");
  return s;
}

TextTask::TextTask(const TextOptions& options) : options_(options) {
  check_ranges(settings_of(options_), "text");
  check_file_name(options_.file);
  const std::string bytes = read_file(shipped_file(options_.file));
  hash_ = fingerprint(bytes);
  std::u32string points = code_points(bytes, options_.file);
  if (!points.empty() && points.front() == 0xFEFF) points.erase(points.begin());
  vocabulary_ = points;
  std::sort(vocabulary_.begin(), vocabulary_.end());
  vocabulary_.erase(std::unique(vocabulary_.begin(), vocabulary_.end()), vocabulary_.end());
  tokens_.reserve(points.size());
  for (const char32_t point : points) {
    const auto found = std::lower_bound(vocabulary_.begin(), vocabulary_.end(), point);
    tokens_.push_back(static_cast<std::int32_t>(found - vocabulary_.begin()));
  }
  const auto size = static_cast<double>(tokens_.size());
  training_ = tokens_.size() - static_cast<std::size_t>(size * options_.validation);
  check_length();
}

void TextTask::check_length() const {
  const std::size_t held_out = tokens_.size() - training_;
  const auto shortest = static_cast<Index>(std::min(training_, held_out));
  if (shortest > options_.length) return;
  const std::string remedy = shortest < 2
                                 ? "give a longer file"
                                 : text("set length=", shortest - 1, " or give a longer file");
  throw Error(text(options_.file, " is too short: of its ", tokens_.size(), " characters ",
                   training_, " are for training and ", held_out, " for validation, and length ",
                   options_.length, " needs ", options_.length + 1, " in each"),
              remedy);
}

std::string TextTask::spec() const {
  TextOptions options = options_;
  return spec_text("text", settings_of(options));
}

TaskShape TextTask::shape() const {
  return {Architecture::decoder, static_cast<Index>(vocabulary_.size()), options_.length, 1};
}

std::vector<Relation> TextTask::relations() const {
  return {{"previous", "the character before this one", true}};
}

Example TextTask::make(Key key, Index count, Split split) const {
  Example example;
  Batch& batch = example.batch;
  batch = Batch::make(count, options_.length);
  example.gold.resize(1);
  const auto all = std::span(tokens_);
  const auto part = split == Split::train ? all.first(training_) : all.subspan(training_);
  for (Index b = 0; b < count; ++b) {
    Generator random = sequence_generator(key, split, b);
    const Index begin = random.below(static_cast<Index>(part.size()) - options_.length);
    for (Index t = 0; t < options_.length; ++t) {
      batch.token(b, t) = part[begin + t];
      batch.target(b, t) = part[begin + t + 1];
      if (t > 0) example.gold[0].add(b, t, static_cast<std::int32_t>(t - 1));
    }
  }
  return example;
}

std::string TextTask::token_text(std::int32_t token) const {
  require(token >= 0 && token < shape().vocab, "there is no token ", token, " in a vocabulary of ",
          shape().vocab);
  return shown(vocabulary_[token]);
}

std::vector<std::int32_t> TextTask::encode(std::string_view text) const {
  std::vector<std::int32_t> tokens;
  for (const char32_t point : code_points(text, "the prompt")) {
    const auto found = std::lower_bound(vocabulary_.begin(), vocabulary_.end(), point);
    if (found == vocabulary_.end() || *found != point) {
      throw Error(headlab::text("the character '", shown(point), "' (U+", hexadecimal(point, 4),
                                ") does not occur in ", options_.file),
                  "use characters of that text only");
    }
    tokens.push_back(static_cast<std::int32_t>(found - vocabulary_.begin()));
  }
  return tokens;
}

std::string TextTask::decode(std::span<const std::int32_t> tokens) const {
  std::string out;
  for (const std::int32_t token : tokens) {
    require(token >= 0 && token < shape().vocab, "there is no token ", token,
            " in a vocabulary of ", shape().vocab);
    append_utf8(out, vocabulary_[token]);
  }
  return out;
}

}  // namespace headlab
