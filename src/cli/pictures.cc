// A picture is written when all else is done: an error before it leaves no file. Its name follows
// the result, and its bytes are the same each time the command is given. Read next:
// src/report/svg.cc, src/report/png.cc.
#include "cli/pictures.h"

#include "cli/commands.h"
#include "headlab/base/files.h"

namespace headlab::cli {

void PictureFlags::add_to(Settings& settings) {
  settings.string("svg", svg, "write the picture as SVG", "FILE");
  settings.string("png", png, "write the picture as PNG", "FILE");
}

Result with_picture(const Invocation& call, const PictureFlags& flags, const Picture& picture,
                    Result result) {
  const std::string about = "again: " + call.again();
  const auto write = [&](const std::string& file, const std::string& bytes) {
    try {
      write_file(file, bytes);
      result.text += "picture: " + file + "\n";
    } catch (const Error& error) {
      result.unwritten = error;
    }
  };
  if (!flags.svg.empty()) write(flags.svg, headlab::svg(picture, about));
  if (!flags.png.empty()) write(flags.png, headlab::png(picture, about));
  return result;
}

}  // namespace headlab::cli
