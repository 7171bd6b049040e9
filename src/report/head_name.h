// How a head is called in tables: by its attention module, in execution order, and the number that
// it was born with. Private to this layer.
// Read next: causes_text.cc.
#pragma once

#include <string>

#include "headlab/base/error.h"
#include "headlab/heads/edits.h"

namespace headlab::inline HEADLAB_SCALAR {

/// "0.2": layer 0, head 2.
inline std::string head_name(const HeadId& head) { return text(head.layer, ".", head.head); }

}  // namespace headlab::inline HEADLAB_SCALAR
