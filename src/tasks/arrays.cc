// Sequences as arrays of whole numbers. Each is read as the line that it would be, so that both are
// checked alike.
// Read next: sequences.cc; base/npz.h.
#include "base/npz.h"
#include "headlab/base/error.h"
#include "tasks/sequences.h"

namespace headlab {
namespace {

using Arrays = std::map<std::string, WholeNumbers, std::less<>>;

/// Error unless there is the array, of this many elements; -1: of any number.
const WholeNumbers& array_of(const Arrays& arrays, const std::string& name, Index count = -1) {
  const auto found = arrays.find(name);
  require(found != arrays.end(), "there is no array ", name);
  require(count < 0 || found->second.count() == count, name, " has ", found->second.count(),
          " elements, and needs ", count);
  return found->second;
}

/// By query, the keys of sequence i.
Json truth_in(const WholeNumbers& begin, const WholeNumbers& keys, Index i, Index positions) {
  Json queries = Json::object();
  for (Index t = 0; t < positions; ++t) {
    const Index from = begin[i * positions + t], to = begin[i * positions + t + 1];
    require(0 <= from && from <= to && to <= keys.count(), "query ", t, " has keys from ", from,
            " to ", to, " of ", keys.count());
    Json list = Json::array();
    for (Index k = from; k < to; ++k) list.push_back(keys[k]);
    if (from < to) queries[std::to_string(t)] = std::move(list);
  }
  return queries;
}

/// The line that sequence i would be.
Json line_of(const Arrays& arrays, Index i) {
  const WholeNumbers &tokens = array_of(arrays, "tokens"), &targets = array_of(arrays, "targets");
  const Index positions = tokens.shape[1], K = targets.count() / tokens.count();
  require(targets.count() == K * tokens.count() && K > 0, "there are ", targets.count(),
          " targets for ", tokens.count(), " tokens");
  const Index length =
      arrays.contains("lengths") ? array_of(arrays, "lengths", tokens.shape[0])[i] : positions;
  require(length <= positions, "its length is ", length, " of ", positions);
  Json words = Json::array(), asked = Json::array(), truth = Json::object();
  for (Index place = i * positions; place < i * positions + length; ++place) {
    words.push_back(tokens[place]);
    Json at = Json::array();
    for (Index k = place * K; k < (place + 1) * K; ++k)
      at.push_back(targets[k] < 0 ? Json() : Json(targets[k]));
    asked.push_back(std::move(at));
  }
  for (const auto& [name, begin] : arrays)
    if (name.starts_with("truth/") && name.ends_with("/begin")) {
      const std::string relation = name.substr(6, name.size() - 12);
      truth[relation] = truth_in(array_of(arrays, name, tokens.count() + 1),
                                 array_of(arrays, "truth/" + relation + "/keys"), i, positions);
    }
  return Json::object({{"tokens", words}, {"targets", asked}, {"truth", truth}});
}

}  // namespace

Sequences LineReader::read_arrays(std::string_view bytes, const std::string& source,
                                  std::vector<std::string>* faults) {
  Sequences all;
  read_part(source, faults, [&] {
    const Arrays arrays = read_npz(bytes);
    require(array_of(arrays, "tokens").shape.size() == 2, "tokens must be [sequences, positions]");
    array_of(arrays, "targets");
    for (Index i = 0; i < arrays.at("tokens").shape[0]; ++i)
      read_part(text(source, ": sequence ", i), faults, [&] { read(line_of(arrays, i), all); });
  });
  return all;
}

}  // namespace headlab
