#include "collector/analyse/cpu_time.hpp"
#include "collector/render/job_log.hpp"
#include "probes/probe.hpp"
#include "tests/analyse/case_files.hpp"

namespace cozy {

namespace {

Reading parse_stat(std::string_view text) { return find_probe("runner-kernel-cpu-time")->parse(text); }

using cases::Answer;

std::string joined(const std::vector<std::string>& names) { return names.empty() ? "none" : join(names, " "); }

/// One pair of files of a case, read and compared.
class CpuCase {
 public:
  CpuCase(std::string id, const std::string& before, const std::string& after, CpuTimeFacts facts,
          const std::string& added)
      : id_(std::move(id)),
        before_(parse_stat(cases::file(id_, before) + added)),
        after_(parse_stat(cases::file(id_, after) + added)) {
    const auto hz = cases::context(id_, "clock_ticks");
    if (hz) facts.ticks_per_second = *parse_u64(*hz);
    const Difference rows =
        difference({before_, cases::first_read(), true}, {after_, cases::second_read(id_), true}, {});
    time_ = cpu_time(rows, facts);
  }

  [[nodiscard]] std::optional<Answer> answer(const std::string& key) const {
    const auto words = split_at(key, '.');
    if (key == "steal.verdict") return Answer(verdict_name(time_.steal));
    if (key == "available.ticks") return Answer(time_.available_ticks);
    if (words[0] == "cpus") return cpus(words[1]);
    if (words[0] == "view" || words[0] == "aggregate") return view(key);
    if (key == "btime") return before_.find("kernel", "btime") == nullptr ? Answer("absent") : Answer("there");
    const CpuRow* row = find(words[0]);
    if (row == nullptr) return words[0].starts_with("cpu") ? std::optional(Answer("none")) : std::nullopt;
    if (words.size() == 2) return of_row(*row, words[1]);
    const auto column = column_of_name(words[1]);
    return column ? of_column(*row, *column, words[2]) : std::nullopt;
  }

  /// The job log of it, and every number that a rendering could show.
  [[nodiscard]] std::string output() const {
    Analysis analysis;
    analysis.runner = time_;
    analysis.window = time_.interval;
    std::string text = join(job_log(analysis), "\n") + "\n";
    std::vector<CpuRow> rows = time_.cpus;
    if (time_.aggregate) rows.push_back(*time_.aggregate);
    if (time_.runner) rows.push_back(*time_.runner);
    for (const CpuRow& row : rows) {
      for (std::size_t i = 0; i < k_cpu_columns; ++i) {
        const auto share = row.share(static_cast<CpuColumn>(i));
        const auto& delta = row.columns[i].delta_ticks;
        text += row.name + " " + (share ? fixed(100 * *share, 1) : "none") + " " +
                (delta ? std::to_string(*delta) : "none") + "\n";
      }
    }
    return text;
  }

 private:
  [[nodiscard]] std::optional<Answer> cpus(std::string_view what) const {
    std::vector<std::string> both;
    for (const CpuRow& row : time_.cpus) both.push_back(row.name);
    if (what == "both") return Answer(joined(both));
    if (what == "gone") return Answer(joined(time_.gone));
    if (what == "appeared") return Answer(joined(time_.appeared));
    if (what == "count") return Answer(std::uint64_t{both.size()});
    return std::nullopt;
  }

  [[nodiscard]] std::optional<Answer> view(const std::string& key) const {
    if (key == "view") return Answer(time_.container_view.empty() ? "kernel" : "container");
    if (key == "view.because") return Answer(time_.container_view.empty() ? "" : time_.container_view.front());
    if (key != "aggregate.rows") return std::nullopt;
    const std::string evidence = joined(time_.container_view);
    return Answer(evidence.find("\"cpu\" stands there more than once") != std::string::npos ? "2" : "1");
  }

  [[nodiscard]] const CpuRow* find(std::string_view name) const {
    if (name == "cpu") return time_.aggregate ? &*time_.aggregate : nullptr;
    if (name == "runner") return time_.runner ? &*time_.runner : nullptr;
    for (const CpuRow& row : time_.cpus) {
      if (row.name == name) return &row;
    }
    return nullptr;
  }

  static std::optional<Answer> of_row(const CpuRow& row, std::string_view what) {
    if (what == "total") return Answer(row.total_ticks);
    if (what == "user_without_guest") return Answer(row.user_without_guest());
    if (what == "nice_without_guest") return Answer(row.nice_without_guest());
    return std::nullopt;
  }

  static std::optional<Answer> of_column(const CpuRow& row, CpuColumn column, std::string_view what) {
    const ColumnTime& time = row.at(column);
    if (what == "before") return Answer(time.before ? std::to_string(*time.before) : "absent");
    if (what == "after") return Answer(time.after ? std::to_string(*time.after) : "absent");
    if (what == "delta") return Answer(time.delta_ticks);
    if (what == "state") return Answer(change_name(time.change));
    const auto share = row.share(column);
    if (what == "share") return Answer(share ? std::optional(100 * *share) : std::nullopt);
    return std::nullopt;
  }

  std::string id_;
  Reading before_;
  Reading after_;
  CpuTime time_;
};

CpuCase plain(const std::string& id, const std::string& variant = "", const std::string& added = "") {
  return {id, "before" + variant + ".txt", "after" + variant + ".txt", {}, added};
}

void check_plain(const std::string& id, const std::string& added = "") {
  const CpuCase pair = plain(id, "", added);
  cases::check_case(
      id, [&](const std::string& key) { return pair.answer(key); }, [&] { return pair.output(); });
}

/// Keys that begin with "b." are of before-b.txt and after-b.txt.
void check_two(const std::string& id) {
  const CpuCase first = plain(id);
  const CpuCase second = plain(id, "-b");
  const auto answer = [&](const std::string& key) {
    return key.starts_with("b.") ? second.answer(key.substr(2)) : first.answer(key);
  };
  cases::check_case(id, answer, [&] { return first.output() + second.output(); });
}

/// What a reader of CPUID and of the kernel's command line would make of a variant of S19.
StealClock clock_of(const std::string& variant) {
  if (*cases::context("S19", variant + ".hypervisor_vendor") != "KVMKVMKVM") return StealClock::unknown;
  const std::string leaf = *cases::context("S19", variant + ".kvm_leaf");
  const unsigned long eax = std::stoul(leaf.substr(leaf.find("eax ") + 4), nullptr, 16);
  const bool told_not_to =
      cases::context("S19", variant + ".kernel_cmdline")->find("no-steal-acc") != std::string::npos;
  return (eax & 0x20U) != 0 && !told_not_to ? StealClock::offered : StealClock::not_offered;
}

}  // namespace

TEST_CASE("cpu time: a column that went back is floored and flagged alone") {
  for (const char* id : {"S01", "S02", "S11", "S21"}) check_plain(id);
}

TEST_CASE("cpu time: a steal that cannot be is unusable, one within rounding is not") {
  for (const char* id : {"S05", "S20"}) check_plain(id);
}

TEST_CASE("cpu time: guest stands inside user and is never added") {
  for (const char* id : {"S07", "S08"}) check_plain(id);
}

TEST_CASE("cpu time: CPUs are known by number and come and go") {
  for (const char* id : {"S09", "S10"}) check_two(id);
}

TEST_CASE("cpu time: a container's view has no aggregate and no verdict") {
  check_plain("S15", "[view: container; /proc/stat is a mount of type fuse.lxcfs]\n");
}

TEST_CASE("cpu time: the columns in the kernel's order") {
  const CpuCase pair = plain("S17");
  const Reading one = parse_stat(cases::file("S17", "stat.txt"));
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    const auto words = split_at(key, '.');
    if (words[0] != "one") return pair.answer(key);
    return Answer(one.number(words[1], words[2]));
  };
  cases::check_case("S17", answer, [&] { return pair.output(); });
}

TEST_CASE("cpu time: what a steal of zero is worth depends on the clock") {
  std::map<std::string, CpuCase> variants;
  for (const char* variant : {"a", "b", "c", "d", "e"}) {
    const std::string names = *cases::context("S19", std::string(variant) + ".pair");
    const auto files = split_words(names);
    CpuTimeFacts facts;
    facts.steal_clock = clock_of(variant);
    variants.emplace(variant, CpuCase("S19", std::string(files[0]), std::string(files[1]), facts, ""));
  }
  const auto answer = [&](const std::string& key) {
    const auto variant = variants.find(key.substr(0, key.find('.')));
    return variant == variants.end() ? variants.at("a").answer(key) : variant->second.answer(key.substr(2));
  };
  // The hypervisor flag is a fact of runner-shape.
  cases::check_case("S19", answer, [&] { return variants.at("a").output(); }, {"hypervisor.flag"});
}

}  // namespace cozy
