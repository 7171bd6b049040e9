// The table of layouts: what the files of a kind call our parameters and our settings, and how
// their matrices lie. Read next: layout_table.cc, the rows; layout_settings.cc and layouts.cc,
// which read them both ways.
#pragma once

#include <span>
#include <string_view>

#include "headlab/base/json.h"
#include "headlab/model/config.h"

namespace headlab { inline namespace HEADLAB_SCALAR {

/// How a matrix [rows, columns] of ours lies in theirs: as it is; as the layout has linear maps,
/// [rows, columns] or [columns, rows]; or with an axis for heads, [H, rows, D] or [H, D, columns].
/// `grouped` is by_head, named _W_K in place of W_K where heads share keys.
enum class Form { same, linear, transposed, by_head, grouped, head_rows };

/// Where a parameter lies: * stands for the number of a block. Several may lie side by side.
struct Place {
  const char *ours, *theirs;
  Form form = Form::same;
  Index part = 0, parts = 1;
};

/// A key of their config.json and our setting. Without a setting: a value that we do not compute is
/// refused: it must be `required`, if it is there.
struct NamedSetting {
  const char *theirs, *ours, *required = "";
};

struct Layout {
  const char *name, *known_by;  // a key that no other layout has
  const char* settings;         // what their config.json need not say
  std::span<const NamedSetting> keys;
  std::span<const Place> places;
  const char* prefix = "";     // of the names of all tensors but lm_head
  Form linear = Form::same;    // of linear maps
  bool halves = false;         // rotary turns (i, i + D/2), where ours turns (2i, 2i + 1)
  bool own_names = false;      // names that stand in no place are the same as ours
  bool has_network = true;     // a feed-forward network, 4 d_model wide where nothing is said
  const char* tied = nullptr;  // the unembedding of a tied model, if files repeat it
  const char* also = "{}";     // what else their config.json says
  const char* python = "";
};

/// A word of theirs for a value of our setting; the first of several is the one that is written.
struct Word {
  std::string_view setting, theirs, ours;
};

extern const std::span<const Layout> kLayouts;
extern const std::span<const Word> kWords;
/// Ends of names that files hold beside parameters: masks and tables that follow from the settings.
extern const std::span<const std::string_view> kUnread;

// ---- layout_settings.cc

/// The value at a key, "a.b" for b in a; null if there is none.
Json value_at(const Json& json, std::string_view key);
/// What config.json says, in its shortest form. `biases` counts where the layout does not say it.
/// Error for what we do not compute.
TransformerConfig config_of(const Layout& layout, const Json& json, bool biases);
/// config.json of a model. Error that names the settings which the layout cannot say.
Json json_of(const Layout& layout, const TransformerConfig& config);

}}  // namespace headlab
