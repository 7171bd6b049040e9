// What commands share that can show their result as a picture: the flags --svg, --pdf and --width,
// and the files. Read next: report/figures.h, which makes the pictures; heads.cc, whose results are
// shown. A file that was there is replaced as one step.
#pragma once

#include <string>

#include "headlab/base/settings.h"
#include "headlab/cli/arguments.h"
#include "headlab/report/picture.h"

namespace headlab::cli {

struct PictureFlags {
  std::string svg, pdf;  // files to write; "": none
  std::string width;     // "84mm"; "": as on a screen

  void add_to(Flags& settings);
  bool wanted() const { return !svg.empty() || !pdf.empty(); }
  /// What figures take: the width in units, 0 where none was asked for. UsageError for what is no
  /// width, or one without a file to write.
  double units() const;
};

/// Writes the files that are wanted, with the command that makes them again inside, and adds their
/// names and a caption to the result.
Result with_picture(const Invocation& call, const PictureFlags& flags, Picture picture,
                    Result result);

}  // namespace headlab::cli
