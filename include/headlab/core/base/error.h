// Errors. Every problem caused by input throws `Error`: a message and, if something helps, a hint
// that states what to do in one imperative sentence. Input is never checked by assert. A message
// has one of these forms, which tests/structure/messages_test.cc checks:
//   cannot X: reason           the function knows what it was called for
//   NAME must ..., got VALUE   a check of one value; also "needs" and "expected"
//   unknown KIND 'NAME'        a name that does not exist; also "missing", "no KIND found in"
// Readers of a part of a file or task give the reason alone: their caller adds "cannot X" with
// in_context(). Read next: json.h.
#pragma once

#include <functional>
#include <iterator>
#include <locale>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headlab {

/// A message (`what()`) and advice for the user (`hint()`, may be empty). A NUL in the message,
/// from a damaged file, would end `what()`: it becomes the four characters `\x00`.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& what, std::string hint = {});
  const std::string& hint() const { return hint_; }

 private:
  std::string hint_;
};

/// Thrown if a loss, a gradient, a parameter or a number computed from them is not finite: the
/// training diverged.
class NotFinite : public Error {
 public:
  using Error::Error;
};

/// Returns the parts joined, each as operator<< prints it in the classic locale.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  out.imbue(std::locale::classic());
  (out << ... << parts);
  return out.str();
}

/// Throws Error(text(parts...)) unless `condition` holds.
template <class... Parts>
void require(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]] {
    throw Error(text(parts...));
  }
}

/// Calls body(); its errors are prefixed with `context` and a colon. NotFinite stays NotFinite.
template <class Body>
decltype(auto) in_context(const std::string& context, const Body& body) {
  try {
    return body();
  } catch (const NotFinite& error) {
    throw NotFinite(text(context, ": ", error.what()), error.hint());
  } catch (const Error& error) {
    throw Error(text(context, ": ", error.what()), error.hint());
  }
}

/// Prints a line "note: ..." to stderr, unchanged: escape what comes from outside before.
void print_note(const std::string& note);

/// Returns the error "unknown KIND 'NAME'; did you mean 'NEAREST'?" with all known names as its
/// hint.
Error unknown_name(std::string_view kind, std::string_view name,
                   const std::vector<std::string>& known);

/// Returns the known name with the smallest edit distance to `name` (insert, delete, replace, swap
/// neighbours; case is ignored), or "" if that is more than one edit and more than a third of the
/// longer name.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

std::string join(const std::vector<std::string>& parts, std::string_view separator);

/// Returns a value for each of `items`; `of` is a function of an item or a pointer to a member of
/// it.
template <class Items, class Of>
auto mapped(const Items& items, const Of& of) {
  std::vector<std::decay_t<decltype(std::invoke(of, *std::begin(items)))>> values;
  for (const auto& item : items) values.push_back(std::invoke(of, item));
  return values;
}

template <class Items, class Of>
std::vector<std::string> texts_of(const Items& items, const Of& of) {
  std::vector<std::string> texts;
  for (const auto& item : items) texts.emplace_back(std::invoke(of, item));
  return texts;
}

/// Returns the item for which `of` equals `name`. Error (an unknown KIND) if there is none.
template <class Items, class Of>
const auto& named(std::string_view kind, std::string_view name, const Items& items, const Of& of) {
  for (const auto& item : items) {
    if (std::invoke(of, item) == name) return item;
  }
  throw unknown_name(kind, name, texts_of(items, of));
}

/// Returns the rows of a table followed by those that a program adds.
template <class Rows, class Row>
std::vector<Row> with_own(const Rows& ours, const std::vector<Row>& own) {
  std::vector<Row> all(std::begin(ours), std::end(ours));
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

}  // namespace headlab
