// Writing of pictures. A picture is written after all other work, so an earlier error leaves no
// file. Its name is printed after the result, and the same command always writes the same bytes.
// Read next: src/app/report/svg.cc.
#include "app/cli/commands.h"
#include "lab/heads/scores/named_arrays.h"

namespace headlab::cli {

void PictureFlags::add_to(Flags& settings) {
  settings.group("output");
  settings.naming(ValueKind::file, "svg", svg,
                  "write the picture as SVG; for PDF: rsvg-convert -f pdf");
  settings.naming(ValueKind::other, "width", width, "width of the picture in print",
                  {.choices = {"84mm", "174mm"}});
  settings.mark_display({"svg", "width"});
  settings.needs({"width"}, {flag_given("svg")});
}

void require_ending(const std::string& flag, const std::string& file, const std::string& ending) {
  std::string found = std::filesystem::path(file).extension().string();
  for (char& letter : found) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  if (found.empty() || found == ending) return;
  throw UsageError(text("cannot write ", file, ": ", flag, " writes a file in the format ",
                        ending.substr(1), ", and this name ends in ", found),
                   text("end the name in ", ending));
}

static bool is_archive(const std::string& file) { return file.ends_with(".npz"); }

void require_array(const std::string& flag, const std::string& file) {
  if (!is_archive(file)) require_ending(flag, file, ".npy");
}

void write_array(const Invocation& call, const std::string& file, const NamedArray& array,
                 const std::function<std::vector<NamedArray>()>& joins) {
  if (!is_archive(file)) return write_out(call, file, npy_of(array));
  std::vector<NamedArray> arrays = joins();
  arrays.push_back(array);
  write_out(call, file, npz_of(arrays));
}

void PictureFlags::check_name() const { require_ending("--svg", svg, ".svg"); }

double PictureFlags::units() const {
  check_name();
  if (width.empty()) return 0;
  double millimetres = 0;
  if (!width.ends_with("mm") || !parse_number(width.substr(0, width.size() - 2), millimetres) ||
      !(millimetres >= 60 && millimetres <= 400)) {
    throw UsageError(text("cannot use --width ", width, ": a picture is 60mm to 400mm wide"),
                     "use 84mm for a column, 174mm for a page");
  }
  return millimetres / 25.4 * 72 / kPrintedUnit;
}

Output with_picture(const Invocation& call, const PictureFlags& flags, Output output,
                    const std::function<Picture(double units)>& make) {
  if (!flags.wanted()) return output;
  Picture picture = make(flags.units());
  picture.printed = !flags.width.empty();
  const std::string about = "command: " + call.again();
  try {
    write_out(call, flags.svg, svg(picture, about));
    output.text += "picture: " + flags.svg + "\n";
  } catch (const Error& error) {
    output.unwritten = error;
  }
  output.text += text("caption: ", picture.title, ". ", picture.sentence, "\n");
  return output;
}

}  // namespace headlab::cli
