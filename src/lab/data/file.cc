// Task from a file of lines (sequences.h), which any program can write: a script, awk, `headlab
// show TASK --write`. `held_out` and `test` are files of the same form, for selection and for final
// evaluation; without them one file is split in three by a hash of each sequence, so that equal
// sequences are in the same part. The ground truth is that of the lines.
// Trap: a task of few sequences is memorised; check the accuracy on held-out ones.
// Read next: sequences.h; headlab/core/tasks/definition.h.
#include <array>
#include <unordered_set>

#include "core/base/digest.h"
#include "headlab/core/base/error.h"
#include "headlab/core/base/files.h"
#include "headlab/core/base/text.h"
#include "headlab/lab/data/data_files.h"
#include "lab/data/sequences.h"

namespace headlab {
namespace {

using Numbers = std::span<const std::int32_t>;

/// Source of the numbers: fingerprint (digest.h).
class Hash {
 public:
  void add(std::uint64_t number) { state_ = (state_ ^ number) * 0x100000001B3; }
  void add_all(Numbers list) {
    for (const std::int32_t number : list) add(static_cast<std::uint32_t>(number + 1));
  }
  std::uint64_t value() const { return state_ ^ (state_ >> 32); }

 private:
  std::uint64_t state_ = 0xCBF29CE484222325;
};

/// Returns a hash that distinguishes sequences. It includes the length of each list: [a] [b c] is
/// not [a b] [c].
std::uint64_t identity_of(std::initializer_list<Numbers> lists) {
  Hash hash;
  for (const Numbers list : lists) {
    hash.add(list.size());
    hash.add_all(list);
  }
  return hash.value();
}

/// Returns the hash that decides to which part a sequence belongs. Lengths are left out, so that
/// files are split as before identity_of included them; sequences that share it by chance are in
/// the same part.
std::uint64_t side_of(Numbers tokens, Numbers source) {
  Hash hash;
  hash.add_all(tokens);
  hash.add_all(source);
  return hash.value();
}

struct FromFile : FromElsewhere {
  std::string train = "datasets/definitions.jsonl", held_out, test, architecture;

  std::array<Sequences, 3> parts = {};  // by split
  std::string hash = {}, said = {};

  void bind(Settings& s) {
    s.string("train", train, "sequences, a line of JSON for each", "FILE");
    s.string("held_out", held_out, "file of validation sequences (default: a tenth of `train`)",
             "FILE");
    s.string("test", test, "file of test sequences (default: a tenth of `train`)", "FILE");
    Settings one;
    one.string("architecture", architecture,
               "decoder, encoder or encoder_decoder, if no header says", "NAME");
    Setting setting = one.all().front();
    setting.set = [set = setting.set](const Json& name) {
      if (name.is_string() && !name.string().empty()) architecture_named(name.string());
      set(name);
    };
    s.add(std::move(setting));
  }
  /// Errors that name the file and the line.
  void prepare() {
    LineReader reader;
    if (!architecture.empty()) reader.read_for(architecture_named(architecture));
    const std::array<std::string, 3> names = {train, held_out, test};
    std::array<Sequences, 3> files;
    for (std::size_t i = 0; i < 3; ++i) {
      if (names[i].empty()) continue;
      const std::string bytes = read_file(shipped_file(names[i]));
      hash += fingerprint(bytes);
      files[i] = reader.read_all(bytes, names[i]);
      require(files[i].size() > 0, names[i], " holds no sequence");
      require(!files[i].targets.empty(), names[i], kAsksNothing);
    }
    hash = fingerprint(hash);
    reader.finish(std::array{&files[0], &files[1], &files[2]});
    header = reader.header();
    check_header();
    divide(files);
    for (const Sequences& part : parts) {
      require(!part.targets.empty(), train,
              " holds too few different sequences with targets to be split in three: "
              "give more, or held_out=FILE and test=FILE");
    }
  }
  /// Divides the sequences. A file that is given for a part is that part, unchanged. If none is
  /// given, a tenth of `train` is held out and another tenth is the test part; equal sequences are
  /// in the same part, and are held out once.
  void divide(const std::array<Sequences, 3>& files) {
    std::array<std::unordered_set<std::uint64_t>, 3> read, whole;  // hashes, by file
    Index left_out = 0;
    for (std::size_t file = 0; file < 3; ++file) {
      const Sequences& from = files[file];
      Index copies = 0, known = 0;
      for (Index i = 0; i < from.size(); ++i) {
        const std::uint64_t of_read = identity_of({from.tokens[i], from.source[i]});
        const std::uint64_t share = file == 0 ? side_of(from.tokens[i], from.source[i]) % 10 : 9;
        std::size_t split = file;
        if (share == 0 && held_out.empty()) {
          split = 1;
        } else if (share == 1 && test.empty()) {
          split = 2;
        }
        read[file].insert(of_read);
        known += read[0].contains(of_read);
        const bool again =
            !whole[file]
                 .insert(identity_of({from.tokens[i], from.source[i], from.targets[i],
                                      from.corrupted[i], from.against[i]}))
                 .second;
        copies += again;
        const bool is_given = split == file;
        if (is_given || !again) parts[split].add(from, i);
        left_out += !is_given && again;
      }
      const char* names[] = {"train", "held_out", "test"};
      if (file == 0) said = text(from.size(), " sequences");
      if (file == 0 && copies > 0) said += text(", ", copies, " of them duplicates");
      if (file > 0 && copies > 0) {
        said += text("; ", copies, " of ", names[file], "'s ", from.size(), " are duplicates");
      }
      if (file > 0 && known > 0) {
        said += text("; ", known, " of ", names[file], "'s ", from.size(), " are also in train");
      }
    }
    if (left_out > 0) said += text(", ", left_out, " duplicates left out");
  }

  Index different(Split split) const { return parts[static_cast<std::size_t>(split)].size(); }
  std::string about_data() const {
    return FromElsewhere::about_data(text(said, ": ", parts[0].size(), " train, ", parts[1].size(),
                                          " validation, ", parts[2].size(), " test"));
  }
  std::string data_hash() const { return hash; }
  /// Returns the file of a part: its own, or `train`.
  const std::string& file_of(Split split) const {
    const std::string& own = split == Split::validation ? held_out : test;
    return split == Split::train || own.empty() ? train : own;
  }
  /// Writes held-out sequences in the order of the file, and others as drawn.
  void write(Sequence& s) const {
    const Sequences& part = parts[static_cast<std::size_t>(s.split)];
    const Index place = s.split == Split::train ? s.unit : s.b % part.size();
    FromElsewhere::write(part, place, s);
  }
};

/// Returns the settings that the header of the file recommends.
std::string advice_of(std::string_view parameters) {
  const FromFile task = with_parameters(FromFile{}, parameters);
  const Json header = header_of_lines(read_file(shipped_file(task.train)), task.train);
  return header.is_null() ? "" : Header::of(header).recommended;
}

}  // namespace

const Header* header_in_file(const Task& task) {
  const auto* from_file = dynamic_cast<const TaskOf<FromFile>*>(&task);
  return from_file == nullptr ? nullptr : &from_file->definition().header;
}

FilePlaces places_in_file(const Task& task, Split split, std::int64_t first, std::int64_t count) {
  const auto* from_file = dynamic_cast<const TaskOf<FromFile>*>(&task);
  if (from_file == nullptr) return {};
  const FromFile& definition = from_file->definition();
  const std::vector<std::int32_t>& all = definition.parts[static_cast<std::size_t>(split)].places;
  FilePlaces places{.are_lines = !definition.file_of(split).ends_with(".npz")};
  for (std::int64_t i = first; i < first + count; ++i) {
    places.of_examples.push_back(all[static_cast<std::size_t>(i % std::ssize(all))]);
  }
  return places;
}

FilePrompts prompts_in_file(const Task& task, Split split, std::int64_t count) {
  const auto* from_file = dynamic_cast<const TaskOf<FromFile>*>(&task);
  if (from_file == nullptr) return {};
  const Sequences& part = from_file->definition().parts[static_cast<std::size_t>(split)];
  const TaskShape shape = task.shape();
  FilePrompts prompts;
  if (!part.corrupted.empty()) prompts.corrupted.resize(static_cast<std::size_t>(count));
  if (!part.against.empty()) {
    prompts.against.assign(static_cast<std::size_t>(count * shape.length * shape.targets), -1);
  }
  for (Index b = 0; b < count; ++b) {
    const Numbers corrupted = part.corrupted[b % part.size()];
    const Numbers against = part.against[b % part.size()];
    if (!corrupted.empty()) prompts.corrupted[b].assign(corrupted.begin(), corrupted.end());
    for (std::size_t i = 0; i < against.size(); i += 3) {
      const Index row = (b * shape.length + against[i]) * shape.targets + against[i + 1];
      prompts.against[static_cast<std::size_t>(row)] = against[i + 2];
    }
  }
  return prompts;
}

LinesCheck check_lines(std::string_view lines, const std::string& source) {
  LinesCheck check;
  LineReader reader;
  const Sequences all = reader.read_all(lines, source, &check.faults);
  check.sequences = all.size();
  check.unasked = reader.unasked();
  if (check.faults.empty() && all.targets.empty()) {
    check.faults.push_back(text(source, all.size() == 0 ? " holds no sequence" : kAsksNothing));
  }
  return check;
}

TaskEntry file_task() {
  TaskEntry entry =
      task_entry(FromFile{}, {"file",
                              "your own sequences and truth, from lines of JSON or a .npz",
                              "layers=2 heads=4 d_model=64 steps=2000 lr=1e-3",
                              {.why = "what can be learned depends on the file"},
                              {},
                              {},
                              {},
                              advice_of,
                              form_of_lines() + form_of_prompts()});
  entry.endings = {".jsonl", ".json", ".npz"};
  return entry;
}

}  // namespace headlab
