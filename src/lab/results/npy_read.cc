// Reading .npy files of whole numbers and of floating-point numbers. The header is a Python dict;
// it is parsed strictly, with its three keys in any order, because a header that is read loosely
// gives other numbers without a message. Arrays in column order and big-endian ones are refused:
// NumPy converts them in one line. Format:
// numpy.org/doc/stable/reference/generated/numpy.lib.format. Read next: npz.h, the archive of such
// files.
#include <algorithm>
#include <bit>
#include <charconv>
#include <optional>

#include "core/base/stored_tensor.h"
#include "lab/results/little_endian.h"
#include "lab/results/npy.h"
#include "lab/results/npz.h"

namespace headlab {
namespace {

constexpr const char* kConvert =
    "save it as numpy.ascontiguousarray(array, numpy.int32), which makes whole numbers, row by row";
constexpr const char* kConvertFloats =
    "save it as numpy.ascontiguousarray(array, numpy.float32), which makes floats, row by row";

struct NpyHeader {
  std::optional<std::string> kind;  // "<i4"
  std::optional<bool> by_columns;
  std::optional<std::vector<std::int64_t>> shape;
};

/// Parses "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3), }".
class NpyHeaderParser {
 public:
  explicit NpyHeaderParser(std::string_view header) : rest_(header) {}

  NpyHeader parse() {
    NpyHeader header;
    expect('{');
    while (!take('}')) {
      member(header);
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_spaces();
    check(rest_.empty(), "text after the dict");
    check(header.kind && header.by_columns && header.shape,
          "one of descr, fortran_order and shape is missing");
    return header;
  }

 private:
  void member(NpyHeader& header) {
    const std::string key = quoted();
    expect(':');
    if (key == "descr" && !header.kind) {
      skip_spaces();
      if (rest_.starts_with('[')) {
        throw Error("it holds records with named fields", "save one field as an array of its own");
      }
      header.kind = quoted();
    } else if (key == "fortran_order" && !header.by_columns) {
      header.by_columns = truth();
    } else if (key == "shape" && !header.shape) {
      header.shape = tuple();
    } else {
      check(false, text("the key '", key, "' is unknown or there twice"));
    }
  }

  std::string quoted() {
    skip_spaces();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    check(quote == '\'' || quote == '"', "a text in quotes is missing");
    const std::size_t end = rest_.find(quote, 1);
    check(end != rest_.npos, "a text has no closing quote");
    std::string inside(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return inside;
  }

  bool truth() {
    skip_spaces();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (rest_.starts_with(word)) {
        rest_.remove_prefix(word.size());
        return value;
      }
    }
    check(false, "fortran_order is neither True nor False");
    return false;
  }

  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> sizes;
    bool comma = true;  // whether another number may follow
    expect('(');
    while (!take(')')) {
      check(comma, "the numbers of the shape lack a comma");
      sizes.push_back(size());
      comma = take(',');
    }
    check(sizes.size() != 1 || comma, "a shape of one axis lacks its comma");
    return sizes;
  }

  std::int64_t size() {
    skip_spaces();
    std::int64_t value = -1;
    const char* begin = rest_.data();
    const auto [end, error] = std::from_chars(begin, begin + rest_.size(), value);
    check(error == std::errc() && value >= 0, "the shape holds something that is no size");
    rest_.remove_prefix(static_cast<std::size_t>(end - begin));
    return value;
  }

  void skip_spaces() {
    while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\n')) {
      rest_.remove_prefix(1);
    }
  }
  bool take(char wanted) {
    skip_spaces();
    const bool there = rest_.starts_with(wanted);
    if (there) rest_.remove_prefix(1);
    return there;
  }
  void expect(char wanted) { check(take(wanted), text("'", wanted, "' is missing")); }
  static void check(bool condition, const std::string& fault) {
    if (condition) return;
    throw Error("its header is no header of NumPy: " + fault, "save it with numpy.save or savez");
  }

  std::string_view rest_;
};

/// Names the elements whose type starts with `letter`.
std::string elements_named(char letter) {
  switch (letter) {
    case 'b':
      return "booleans";
    case 'f':
      return "numbers with a fraction";
    case 'O':
      return "Python objects";
    case 'S':
      return "bytes";
    default:
      return "other elements";
  }
}

/// Throws an Error unless elements are whole numbers or, for texts, letters, that can be read as
/// they lie.
void require_readable(const NpyHeader& header) {
  const std::string& kind = *header.kind;
  const char letter = kind.size() > 1 ? kind[1] : '\0';
  const std::string width = kind.size() > 2 ? kind.substr(2) : "";
  const bool whole = (letter == 'i' || letter == 'u') &&
                     (width == "1" || width == "2" || width == "4" || width == "8");
  const bool letters = letter == 'U' && !width.empty() && width.size() <= 9 &&
                       width.find_first_not_of("0123456789") == width.npos;
  if (!whole && !letters) {
    throw Error(text("it holds no whole numbers such as <i4 but ", elements_named(letter), " (",
                     kind, ")"),
                kConvert);
  }
  if (kind[0] != '<' && kind[0] != '|') {
    throw Error(text("it holds no whole numbers in little-endian order (", kind, ")"), kConvert);
  }
  if (*header.by_columns) {
    throw Error("it is stored column by column (fortran_order)", kConvert);
  }
}

}  // namespace

std::int64_t WholeNumbers::operator[](std::int64_t i) const {
  const auto size = static_cast<std::size_t>(width);
  const std::uint64_t number = number_at(bytes, static_cast<std::size_t>(i) * size, size);
  const int unused = 64 - 8 * width;  // bits, into which the sign goes
  if (has_sign) return static_cast<std::int64_t>(number << unused) >> unused;
  require(number >> 63 == 0, "it holds ", number, ", which is too large");
  return static_cast<std::int64_t>(number);
}

std::string shape_text(const std::vector<std::int64_t>& shape) {
  return text("[", join(texts_of(shape, [](std::int64_t size) { return text(size); }), ", "), "]");
}

namespace {

struct NpyParts {
  NpyHeader header;
  std::string_view elements;
};

NpyParts parts_of_npy(std::string_view npy) {
  if (npy.starts_with("PK\3\4")) {
    throw Error("it is an archive of NumPy arrays (.npz)", "save the one array with numpy.save");
  }
  require(npy.starts_with("\x93NUMPY"), "it is not a NumPy array");
  const std::uint64_t version = number_at(npy, 6, 1);
  const std::uint64_t minor = number_at(npy, 7, 1);
  require(version >= 1 && version <= 3 && minor == 0, "its format is version ", version, ".", minor,
          " of .npy, and headlab reads 1.0, 2.0 and 3.0");
  const std::size_t digits = version == 1 ? 2 : 4;
  const std::size_t size = number_at(npy, 8, digits);
  const NpyHeader header = NpyHeaderParser(bytes_at(npy, 8 + digits, size)).parse();
  return {header, npy.substr(8 + digits + size)};
}

/// Throws an Error unless an array of this shape and width has this number of bytes.
void require_size(const std::vector<std::int64_t>& shape, int width, std::size_t bytes) {
  require(!shape.empty(), "it holds a single number, not an array");
  const bool is_empty = std::ranges::count(shape, 0) > 0;
  std::size_t count = is_empty ? 0 : static_cast<std::size_t>(width);
  for (const std::int64_t length : shape) {
    const auto many = static_cast<std::size_t>(length);
    require(is_empty || count <= bytes / many, "it holds less than its shape ", shape_text(shape));
    count *= many;
  }
  require(count == bytes, "it holds more than its shape ", shape_text(shape));
}

/// Returns the width of the elements of an array of floats. Error for other elements.
int width_of_floats(const NpyHeader& header) {
  const std::string& kind = *header.kind;
  const bool is_known = kind == "<f2" || kind == "<f4" || kind == "<f8";
  if (!is_known) {
    throw Error(text("it holds no floating-point numbers <f2, <f4 or <f8 but ", kind),
                kConvertFloats);
  }
  if (*header.by_columns) {
    throw Error("it is stored column by column (fortran_order)", kConvertFloats);
  }
  return kind[2] - '0';
}

float float_at(std::string_view bytes, std::size_t i, int width) {
  const auto size = static_cast<std::size_t>(width);
  const std::uint64_t bits = number_at(bytes, i * size, size);
  switch (width) {
    case 2:
      return float_of_half(static_cast<std::uint16_t>(bits));
    case 4:
      return std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    default:
      return static_cast<float>(std::bit_cast<double>(bits));
  }
}

}  // namespace

WholeNumbers read_npy(std::string_view npy) {
  const NpyParts parts = parts_of_npy(npy);
  require_readable(parts.header);
  const std::string& kind = *parts.header.kind;
  WholeNumbers array{*parts.header.shape, parts.elements};
  const bool letters = kind[1] == 'U';
  const int stated = std::stoi(kind.substr(2));
  array.width = letters ? 4 : stated;
  array.has_sign = kind[1] == 'i';
  array.is_text = letters;
  if (letters) array.shape.push_back(stated);
  require_size(array.shape, array.width, array.bytes.size());
  return array;
}

FloatArray read_npy_floats(std::string_view npy) {
  const NpyParts parts = parts_of_npy(npy);
  const int width = width_of_floats(parts.header);
  FloatArray array{.shape = *parts.header.shape};
  require_size(array.shape, width, parts.elements.size());
  const std::size_t count = parts.elements.size() / static_cast<std::size_t>(width);
  array.values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    array.values.push_back(float_at(parts.elements, i, width));
  }
  return array;
}

}  // namespace headlab
