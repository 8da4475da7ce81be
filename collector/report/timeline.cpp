#include "collector/report/timeline.hpp"

#include "collector/report/json_line.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_schema = "cozybracket-timeline-1";
constexpr std::size_t k_longest_line = 1UL * 1024 * 1024;
constexpr std::size_t k_most_ticks = 100'000;
constexpr std::size_t k_most_subjects = 20'000;
constexpr std::size_t k_most_entries = 1'000'000;  // of all ticks together
constexpr std::uint64_t k_latest_ns = 1ULL << 62U;

Count at(const JsonValue::List& list, std::size_t i) { return i < list.size() ? list[i].number() : std::nullopt; }

std::optional<std::int64_t> moment(const JsonValue::List& list, std::size_t i) {
  const Count value = at(list, i);
  if (!value || *value > k_latest_ns) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::vector<Count> counts(const JsonValue* list) {
  constexpr std::size_t k_most_columns = 16;
  std::vector<Count> values;
  if (list == nullptr) return values;
  for (const JsonValue& item : list->list()) {
    if (values.size() < k_most_columns) values.push_back(item.number());
  }
  return values;
}

VcpuTick vcpu_of(const JsonValue::List& list) {
  VcpuTick vcpu;
  vcpu.subject = at(list, 0).value_or(UINT64_MAX);
  vcpu.ran_ns = at(list, 1);
  vcpu.waited_ns = at(list, 2);
  vcpu.halted_ns = at(list, 3);
  vcpu.exits = at(list, 4);
  vcpu.blocking = at(list, 5);
  const std::string* state = list.size() > 6 ? list[6].text() : nullptr;
  if (state != nullptr && state->size() == 1 && state->front() >= 'A' && state->front() <= 'z')
    vcpu.state = state->front();
  return vcpu;
}

OthersTick others_of(const JsonValue::List& list) {
  return {at(list, 0).value_or(UINT64_MAX), at(list, 1), at(list, 2)};
}

CgroupTick cgroup_of(const JsonValue::List& list) {
  return {at(list, 0).value_or(UINT64_MAX), at(list, 1), at(list, 2), at(list, 3), at(list, 4)};
}

class Reader {
 public:
  explicit Reader(Timeline& timeline) : timeline_(timeline), interval_ns_(timeline.interval_ns) {}

  bool take(const JsonValue& line) {
    if (line.find("t") != nullptr) return take_tick(line);
    if (const Count subject = line.number("subject")) return take_subject(*subject, line);
    if (line.find("left") != nullptr) return true;
    if (line.find("end") != nullptr) {
      timeline_.end = timeline_end_of_name(line.text("end"));
      return true;
    }
    const Count interval = line.number("interval_ns");
    if (!interval || *interval == 0 || *interval > k_latest_ns) return false;
    interval_ns_ = static_cast<std::int64_t>(*interval);
    timeline_.slowed = true;
    return true;
  }

 private:
  bool take_subject(std::uint64_t number, const JsonValue& line) {
    if (timeline_.subjects.size() >= k_most_subjects || line.text("node").empty()) return false;
    TimelineSubject& subject = timeline_.subjects[number];
    subject.kind = line.text("kind");
    subject.node = make_line(line.text("node"));
    subject.pid = line.number("pid").value_or(0);
    subject.start_ticks = line.number("start").value_or(0);
    subject.vcpu = line.number("vcpu").value_or(0);
    subject.level = line.number("level").value_or(0);
    subject.path = make_line(line.text("path"));
    return true;
  }

  bool take_tick(const JsonValue& line) {
    const JsonValue::List& stamps = line.find("t")->list();
    const auto due = moment(stamps, 0);
    const auto begin = moment(stamps, 1);
    const auto end = moment(stamps, 2);
    const auto epoch = moment(stamps, 3);
    if (!due || !begin || !end || !epoch || *end < *begin || *begin < *due) return false;
    if (!timeline_.ticks.empty() && *begin <= timeline_.ticks.back().end_ns) return false;
    if (timeline_.ticks.size() >= k_most_ticks) return false;
    TimelineTick tick;
    tick.due_ns = *due;
    tick.begin_ns = *begin;
    tick.end_ns = *end;
    tick.epoch_ns = *epoch;
    tick.interval_ns = interval_ns_;
    tick.missed = line.number("missed").value_or(0);
    tick.cpu = counts(line.find("cpu"));
    tick.pressure = counts(line.find("psi"));
    tick.memory_kb = line.number("mem");
    tick.self_ns = line.number("self");
    take_entries(line.find("v"), vcpu_of, tick.vcpus);
    take_entries(line.find("o"), others_of, tick.others);
    take_entries(line.find("c"), cgroup_of, tick.cgroups);
    timeline_.ticks.push_back(std::move(tick));
    return true;
  }

  template <class Entry>
  void take_entries(const JsonValue* lists, Entry (*entry_of)(const JsonValue::List&), std::vector<Entry>& entries) {
    if (lists == nullptr) return;
    for (const JsonValue& entry : lists->list()) {
      if (++entries_ < k_most_entries) entries.push_back(entry_of(entry.list()));
    }
  }

  Timeline& timeline_;
  std::int64_t interval_ns_;  ///< as it is at this line
  std::size_t entries_ = 0;
};

std::optional<Timeline> parse_head(std::string_view line) {
  const auto head = line.size() <= k_longest_line ? parse_json_line(line) : std::nullopt;
  if (!head || head->text("schema") != k_schema) return std::nullopt;
  const Count interval = head->number("interval_ns");
  if (!interval || *interval == 0 || *interval > k_latest_ns) return std::nullopt;
  Timeline timeline;
  timeline.interval_ns = static_cast<std::int64_t>(*interval);
  timeline.ticks_per_second = head->number("ticks_per_second").value_or(0);
  timeline.cpus = head->number("cpus").value_or(0);
  timeline.recorder.by = make_line(head->text("by"));
  if (const JsonValue* recorder = head->find("recorder")) {
    timeline.recorder.pid = recorder->number("pid").value_or(0);
    timeline.recorder.start_ticks = recorder->number("start").value_or(0);
    timeline.recorder.boot = make_line(recorder->text("boot"));
  }
  return timeline;
}

}  // namespace

std::optional<Timeline> parse_timeline(std::string_view text) {
  // A last line without its end was cut when its writer was killed.
  const auto take_line = [&]() -> std::optional<std::string_view> {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    return line;
  };
  const auto head = take_line();
  auto timeline = head ? parse_head(*head) : std::nullopt;
  if (!timeline) return timeline;
  Reader reader(*timeline);
  while (const auto line = take_line()) {
    const auto value = line->size() <= k_longest_line ? parse_json_line(*line) : std::nullopt;
    if (!value || !reader.take(*value)) ++timeline->bad_lines;
  }
  return timeline;
}

}  // namespace cozy
