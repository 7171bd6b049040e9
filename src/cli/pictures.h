// What commands share that can show their result as a picture: the flags --svg and --png, and the
// files. Read next: report/figures.h, which makes the pictures; heads.cc, whose results are shown.
// A file that was there is replaced as one step.
#pragma once

#include <string>

#include "headlab/base/settings.h"
#include "headlab/cli/arguments.h"
#include "headlab/report/picture.h"

namespace headlab::cli {

struct PictureFlags {
  std::string svg, png;  // files to write; "": none

  void add_to(Settings& settings);
  bool wanted() const { return !svg.empty() || !png.empty(); }
};

/// Writes the files that are wanted, with the command that makes them again inside, and adds their
/// names to the result.
Result with_picture(const Invocation& call, const PictureFlags& flags, const Picture& picture,
                    Result result);

}  // namespace headlab::cli
