// Writing of pictures. A picture is written after all other work, so an earlier error leaves no
// file. Its name is printed after the result, and the same command always writes the same bytes.
// Read next: src/app/report/svg.cc, src/app/report/pdf.cc.
#include "app/cli/commands.h"

namespace headlab::cli {

void PictureFlags::add_to(Flags& settings) {
  settings.group("output");
  settings.string("svg", svg, "write the picture as SVG", "FILE");
  settings.string("pdf", pdf, "write as PDF; to embed fonts: rsvg-convert -f pdf FILE.svg", "FILE");
  settings.string("width", width, "lay it out for print", "84mm|174mm");
  settings.needs({"width"}, {flag_given("svg"), flag_given("pdf")});
}

void require_ending(const std::string& flag, const std::string& file, const std::string& ending) {
  std::string found = std::filesystem::path(file).extension().string();
  for (char& letter : found) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  if (found.empty() || found == ending) return;
  const std::string other = found == ".svg" || found == ".pdf" ? flag_of(found.substr(1)) : "";
  throw UsageError(text("cannot write ", file, ": ", flag, " writes a file in the format ",
                        ending.substr(1), ", and this name ends in ", found),
                   other.empty() || other == flag
                       ? text("end the name in ", ending)
                       : text("end the name in ", ending, ", or use ", other));
}

void PictureFlags::check_names() const {
  require_ending("--svg", svg, ".svg");
  require_ending("--pdf", pdf, ".pdf");
}

double PictureFlags::units() const {
  check_names();
  if (width.empty()) return 0;
  double millimetres = 0;
  if (!width.ends_with("mm") || !parse_number(width.substr(0, width.size() - 2), millimetres) ||
      !(millimetres >= 60 && millimetres <= 400)) {
    throw UsageError(text("cannot use --width ", width, ": a picture is 60mm to 400mm wide"),
                     "use 84mm for a column, 174mm for a page");
  }
  return millimetres / 25.4 * 72 / kPrintedUnit;
}

/// Returns a note with the characters that a PDF shows as ?; "" if there are none.
static std::string lacking_text(const Picture& picture) {
  constexpr std::size_t kNamed = 20;
  std::vector<std::string> lacking = lacking_in_pdf(picture);
  if (lacking.empty()) return "";
  const std::size_t count = lacking.size();
  lacking.resize(std::min(count, kNamed));
  return text("note: the font of the PDF lacks ", count, count == 1 ? " character" : " characters",
              ", shown as ?: ", join(lacking, " "), count > kNamed ? " ..." : "",
              "\nhint: --svg writes all characters");
}

Output with_picture(const Invocation& call, const PictureFlags& flags, Output output,
                    const std::function<Picture(double units)>& make) {
  if (!flags.wanted()) return output;
  Picture picture = make(flags.units());
  picture.printed = !flags.width.empty();
  const std::string about = "command: " + call.again();
  const auto write = [&](const std::string& file, const std::string& bytes) {
    try {
      write_out(call, file, bytes);
      output.text += "picture: " + file + "\n";
    } catch (const Error& error) {
      output.unwritten = error;
    }
  };
  if (!flags.svg.empty()) write(flags.svg, headlab::svg(picture, about));
  if (!flags.pdf.empty()) {
    write(flags.pdf, headlab::pdf(picture, about));
    if (const std::string lacking = lacking_text(picture); !lacking.empty()) note(lacking);
  }
  output.text += text("caption: ", picture.title, ". ", picture.sentence, "\n");
  if (!flags.pdf.empty()) {
    output.text +=
        "fonts: the PDF embeds none; where they are needed, write --svg FILE.svg and run\n"
        "  rsvg-convert -f pdf -o FILE.pdf FILE.svg\n";
  }
  return output;
}

}  // namespace headlab::cli
