#include <algorithm>

#include "collector/analyse/analysis.hpp"
#include "probes/probe.hpp"
#include "tests/analyse/case_files.hpp"

/// The cases of KVM's statistics and of a replaced cgroup.
namespace cozy {

namespace {

using cases::Answer;

/// The tree of a case as the probe writes it, in the shell's form without modes: kinds come from the legend.
std::string capture_of_tree(const std::string& id, const std::string& side) {
  namespace fs = std::filesystem;
  const fs::path kvm = cases::folder(id) / side / "sys/kernel/debug/kvm";
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kvm)) {
    if (entry.is_regular_file()) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  std::string text;
  for (const fs::path& path : files) {
    const fs::path inside = fs::relative(path, kvm);
    std::string scope;
    for (const fs::path& part : inside.parent_path()) scope += " " + part.string();
    const std::string value = cases::file(id, side + "/sys/kernel/debug/kvm/" + inside.string());
    text += "[vm" + scope + "] " + path.filename().string() + " " + std::string(trim(value)) + "\n";
  }
  return text;
}

class KvmCase {
 public:
  explicit KvmCase(std::string id, const std::string& added_after = "")
      : id_(std::move(id)),
        before_(parse(capture_of_tree(id_, "before"))),
        after_(parse(capture_of_tree(id_, "after") + added_after)),
        rows_(difference({before_, cases::first_read(), true}, {after_, cases::second_read(id_), true},
                         kvm_pair_rules(before_, after_, find_legend("sandbox-kvm-exits")))) {}

  /// FIELD.WHAT or vcpuN.FIELD.WHAT
  [[nodiscard]] std::optional<Answer> answer(const std::string& key) const {
    auto words = split_at(key, '.');
    std::string scope = "vm 2231-14";
    if (words.size() == 3 && words[0].starts_with("vcpu")) {
      scope += " " + std::string(words[0]);
      words.erase(words.begin());
    }
    if (key == "outcome.after.is.not") {
      const Outcome outcome = judge(after_, {}, *find_legend("sandbox-kvm-exits")).outcome;
      return Answer(outcome == Outcome::complete ? "partial" : "complete");
    }
    const RowChange* row = rows_.find(scope, words[0]);
    if (row == nullptr) return std::nullopt;
    if (words.size() == 3 && words[1] == "reason") {
      return Answer(row->reason.find("EIO") != std::string_view::npos ? "EIO" : row->reason);
    }
    return of_row(*row, words[1]);
  }

  [[nodiscard]] std::string output() const {
    std::string text;
    for (const RowChange& row : rows_.rows()) {
      text += row.scope() + " " + row.field() + " " + std::string(change_name(row.change));
      for (const Row* side : {row.before, row.after})
        text += " " + (side != nullptr ? value_text(side->value) : "absent");
      if (const auto rate = row.per_second()) text += " " + fixed(*rate, 1);
      text += "\n";
    }
    return text;
  }

 private:
  static Reading parse(const std::string& text) { return find_probe("sandbox-kvm-exits")->parse(text); }

  static std::optional<Answer> of_row(const RowChange& row, std::string_view what) {
    if (what == "before") return Answer(row.before != nullptr ? value_text(row.before->value) : "absent");
    if (what == "after") return Answer(row.after != nullptr ? value_text(row.after->value) : "absent");
    if (what == "state") return Answer(change_name(row.change));
    if (what == "delta") return Answer(row.delta);
    if (what == "per_second") return Answer(row.per_second());
    return std::nullopt;
  }

  std::string id_;
  Reading before_;
  Reading after_;
  Difference rows_;
};

void check(const std::string& id, const std::string& added_after = "") {
  const KvmCase pair(id, added_after);
  cases::check_case(
      id, [&](const std::string& key) { return pair.answer(key); }, [&] { return pair.output(); });
}

}  // namespace

TEST_CASE("difference: signed values, gauges and peaks are values, never rates") {
  check("K04");
  check("K05");
}

TEST_CASE("difference: a counter that could not be read the second time is absent") {
  check("K03", "[skipped vm 2231-14] exits: could not be read: EIO (Input/output error)\n");
}

TEST_CASE("difference: a cgroup that was made again under its path is another subject") {
  const auto reading = [](const std::string& side) {
    Reading made;
    const std::string scope = *cases::context("G14", "path");
    const std::string text = cases::file("G14", side + ".txt");
    for (const std::string_view line : split_lines(text)) {
      const auto words = split_words(line);
      made.add(scope, std::string(words[0]), *parse_u64(words[1]), Kind::cumulative);
    }
    made.subjects.push_back({scope, "inode " + *cases::context("G14", "inode_" + side), std::nullopt, std::nullopt});
    return made;
  };
  const Reading before = reading("before");
  const Reading after = reading("after");
  const Difference rows = difference({before, cases::first_read(), true}, {after, cases::second_read("G14"), true}, {});
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    const auto words = split_at(key, '.');
    const RowChange* row = rows.find("/cocoon.slice/vm-7.scope", words[0]);
    if (row == nullptr) return std::nullopt;
    return words[1] == "state" ? Answer(change_name(row->change)) : Answer(row->delta);
  };
  const auto output = [&] {
    std::string text;
    for (const RowChange& row : rows.rows()) text += row.per_second() ? fixed(*row.per_second(), 1) + "\n" : "none\n";
    return text;
  };
  cases::check_case("G14", answer, output);
}

}  // namespace cozy
