// Batches are plain numbers in pool memory, so that creating one in every step requires no memory
// from the system. Parts of a batch are copies: micro-batches are small compared with the tensors
// that a model computes from them. Read next: headlab/core/model/batch.h.
#include "headlab/core/model/batch.h"

#include <algorithm>

#include "headlab/core/base/error.h"

namespace headlab { inline namespace HEADLAB_SCALAR {
namespace {

template <class Values>
Values rows_of(const Values& values, Index begin, Index end, Index width) {
  return values.empty() ? Values{}
                        : Values(values.begin() + begin * width, values.begin() + end * width);
}

}  // namespace

Batch Batch::make(Index size, Index length, Index targets_per_position, Index source_length,
                  Index features) {
  require(size >= 1 && length >= 1 && targets_per_position >= 1 && source_length >= 0,
          "cannot make a batch of ", size, " sequences of ", length, " positions with ",
          targets_per_position, " targets and ", source_length, " of a source");
  return {.size = size,
          .length = length,
          .targets_per_position = targets_per_position,
          .source_length = source_length,
          .features = features,
          .tokens = Ids(size * length, 0),
          .vectors = PoolVector<Scalar>(size * length * features, Scalar(0)),
          .targets = Ids(size * length * targets_per_position, -1),
          .source = Ids(size * source_length, 0)};
}

Index Batch::target_count() const {
  return std::count_if(targets.begin(), targets.end(), [](std::int32_t t) { return t >= 0; });
}

Batch Batch::rows(Index begin, Index end) const {
  require(0 <= begin && begin < end && end <= size, "cannot slice a batch: rows [", begin, ", ",
          end, ") of a batch of ", size);
  return {.size = end - begin,
          .length = length,
          .targets_per_position = targets_per_position,
          .source_length = source_length,
          .features = features,
          .tokens = rows_of(tokens, begin, end, length),
          .vectors = rows_of(vectors, begin, end, length * features),
          .lengths = rows_of(lengths, begin, end, 1),
          .targets = rows_of(targets, begin, end, length * targets_per_position),
          .source = rows_of(source, begin, end, source_length),
          .source_lengths = rows_of(source_lengths, begin, end, 1)};
}

}}  // namespace headlab
