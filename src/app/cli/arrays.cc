// Arrays that commands write for NumPy: alone as NAME.npy, or as NAME.npz together with the tokens
// and lengths of their examples, so that rows can be joined with other results. Read next:
// lab/heads/scores/named_arrays.h.
#include <algorithm>

#include "app/cli/commands.h"
#include "lab/heads/scores/named_arrays.h"

namespace headlab::cli {

static bool is_archive(const std::string& file) { return file.ends_with(".npz"); }

void require_array(const std::string& flag, const std::string& file) {
  if (!is_archive(file)) require_ending(flag, file, ".npy");
}

void write_array(const Invocation& call, const std::string& file, const NamedArray& array,
                 const std::function<Batch()>& examples) {
  if (!is_archive(file)) return write_out(call, file, npy_of(array));
  std::vector<NamedArray> arrays = token_arrays(examples());
  arrays.push_back(array);
  write_out(call, file, npz_of(arrays));
}

}  // namespace headlab::cli
