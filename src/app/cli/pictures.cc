// A picture is written when all else is done: an error before it leaves no file. Its name follows
// the result, and its bytes are the same each time the command is given. Read next:
// src/app/report/svg.cc, src/app/report/pdf.cc.
#include "cli/commands.h"

namespace headlab::cli {

void PictureFlags::add_to(Flags& settings) {
  settings.string("svg", svg, "write the picture as SVG", "FILE");
  settings.string("pdf", pdf, "write the picture as PDF", "FILE");
  settings.string("width", width, "lay the picture out for print, with text of 7 points",
                  "84mm|174mm");
  settings.only({"width"}, {"svg", "pdf"});
}

double PictureFlags::units() const {
  if (width.empty()) return 0;
  double millimetres = 0;
  if (!width.ends_with("mm") || !parse_number(width.substr(0, width.size() - 2), millimetres) ||
      !(millimetres >= 60 && millimetres <= 400))
    throw UsageError(text("--width ", width, ": a picture is 60mm to 400mm wide"),
                     "84mm for a column, 174mm for a page");
  return millimetres / 25.4 * 72 / kPrintedUnit;
}

Result with_picture(const Invocation& call, const PictureFlags& flags, Result result,
                    const std::function<Picture(double units)>& make) {
  if (!flags.wanted()) return result;
  Picture picture = make(flags.units());
  picture.printed = !flags.width.empty();
  const std::string about = "again: " + call.again();
  const auto write = [&](const std::string& file, const std::string& bytes) {
    try {
      write_out(call, file, bytes);
      result.text += "picture: " + file + "\n";
    } catch (const Error& error) {
      result.unwritten = error;
    }
  };
  if (!flags.svg.empty()) write(flags.svg, headlab::svg(picture, about));
  if (!flags.pdf.empty()) write(flags.pdf, headlab::pdf(picture, about));
  result.text += text("caption: ", picture.title, ". ", picture.sentence, "\n");
  return result;
}

}  // namespace headlab::cli
