#include "collector/analyse/cpu_time.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::array<std::string_view, k_cpu_columns> k_column_names{
    "user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal", "guest", "guest_nice"};

constexpr std::size_t k_steal = static_cast<std::size_t>(CpuColumn::steal);

/// None when the sum does not fit: numbers that no kernel counted.
std::optional<std::uint64_t> add(std::uint64_t a, std::uint64_t b) {
  if (b > std::numeric_limits<std::uint64_t>::max() - a) return std::nullopt;
  return a + b;
}

ColumnTime column_time(const RowChange& row) {
  ColumnTime column;
  column.change = row.change;
  if (row.before != nullptr) column.before = counter_value(row.before->value);
  if (row.after != nullptr) column.after = counter_value(row.after->value);
  column.delta_ticks = row.delta;
  column.fell = row.change == Change::went_back || row.change == Change::reset;
  return column;
}

CpuRow cpu_row(const Difference& difference, std::string_view scope) {
  CpuRow row;
  row.name = scope;
  for (std::size_t i = 0; i < k_cpu_columns; ++i) {
    const RowChange* change = difference.find(scope, k_column_names[i]);
    if (change != nullptr) row.columns[i] = column_time(*change);
  }
  return row;
}

/// Which CPUs are in both readings and which in one.
struct CpuSets {
  enum class In { both, first, second, one_of_a_cut_pair };
  std::map<std::pair<std::uint64_t, std::string_view>, In> cpus;  // in the order of their numbers
  bool aggregate = false;
};

CpuSets cpu_sets(const Difference& difference) {
  CpuSets sets;
  for (const RowChange& row : difference.rows()) {
    const auto digits = after_prefix(row.scope(), "cpu");
    if (!digits) continue;
    const bool both = row.before != nullptr && row.after != nullptr;
    if (digits->empty()) sets.aggregate = sets.aggregate || both;
    const auto number = parse_u64(*digits);
    if (!number) continue;
    auto in = CpuSets::In::one_of_a_cut_pair;
    if (row.change == Change::gone) in = CpuSets::In::first;
    if (row.change == Change::appeared) in = CpuSets::In::second;
    if (both) in = CpuSets::In::both;
    const auto [at, inserted] = sets.cpus.try_emplace({*number, row.scope()}, in);
    if (!inserted && both) at->second = in;
  }
  return sets;
}

/// One column of the sum over rows: what fell or is missing in one of them is left out there, a fall is flagged.
ColumnTime sum_column(const std::vector<CpuRow>& rows, std::size_t i) {
  ColumnTime sum;
  for (const CpuRow& row : rows) {
    const ColumnTime& part = row.columns[i];
    sum.fell = sum.fell || part.fell;
    if (!part.delta_ticks) continue;
    const auto ticks = add(sum.delta_ticks.value_or(0), *part.delta_ticks);
    if (!ticks) return {};
    sum.delta_ticks = ticks;
    sum.change = Change::rate;
  }
  if (sum.change == Change::absent && sum.fell) sum.change = Change::went_back;
  return sum;
}

CpuRow sum_of(const std::vector<CpuRow>& rows) {
  CpuRow sum;
  sum.name = "runner";
  for (std::size_t i = 0; i < k_cpu_columns; ++i) sum.columns[i] = sum_column(rows, i);
  return sum;
}

void settle_total(CpuRow& row, bool without_steal) {
  row.without_steal = without_steal;
  row.total_ticks.reset();
  std::uint64_t total = 0;
  bool any = false;
  for (std::size_t i = 0; i < k_total_columns; ++i) {
    const auto& delta = row.columns[i].delta_ticks;
    if (!delta || (without_steal && i == k_steal)) continue;
    const auto sum = add(total, *delta);
    if (!sum) return;
    total = *sum;
    any = true;
  }
  if (any) row.total_ticks = total;
}

bool fell(const CpuRow& row) { return row.columns[k_steal].fell; }

/// More than the CPUs had: by the longest time that it can have been, with a percent and two ticks of slack each.
bool too_much(const CpuRow& row, std::size_t column, std::size_t cpus, const CpuTime& time,
              std::uint64_t ticks_per_second) {
  const auto& delta = row.columns[column].delta_ticks;
  if (!delta || !time.interval || cpus == 0) return false;
  const double seconds = time.interval->seconds() + time.interval->error_seconds();
  const double most = seconds * static_cast<double>(ticks_per_second) * 1.01 + 2;
  return static_cast<double>(*delta) > most * static_cast<double>(cpus);
}

/// By a column that has no verdict of its own, as steal has. Shares are of a row's own total, so they bear a window
/// that is known badly; a row that passes it a thousand times over counts something else.
bool passes_time(const CpuRow& row, std::size_t cpus, const CpuTime& time, std::uint64_t ticks_per_second) {
  constexpr std::size_t k_beyond = 1000;
  for (std::size_t i = 0; i < k_cpu_columns; ++i) {
    if (i != k_steal && too_much(row, i, cpus * k_beyond, time, ticks_per_second)) return true;
  }
  return false;
}

void leave_out_beyond_time(CpuTime& time, std::uint64_t ticks_per_second) {
  constexpr std::size_t k_most_cpus = 8192;  // where no row tells how many there are
  const std::size_t cpus = time.cpus.empty() ? k_most_cpus : time.cpus.size();
  if (time.aggregate && passes_time(*time.aggregate, cpus, time, ticks_per_second))
    time.beyond_time.push_back(time.aggregate->name);
  std::erase_if(time.cpus, [&](const CpuRow& row) {
    const bool beyond = passes_time(row, 1, time, ticks_per_second);
    if (beyond) time.beyond_time.push_back(row.name);
    return beyond;
  });
}

bool any_cpu(const CpuTime& time, bool (*is)(const CpuRow&)) {
  return std::any_of(time.cpus.begin(), time.cpus.end(), is);
}

StealVerdict judge_steal(const CpuTime& time, const CpuRow& whole, const CpuTimeFacts& facts) {
  const std::uint64_t hz = facts.ticks_per_second;
  const bool impossible = too_much(whole, k_steal, time.cpus.size(), time, hz) ||
                          std::any_of(time.cpus.begin(), time.cpus.end(),
                                      [&](const CpuRow& row) { return too_much(row, k_steal, 1, time, hz); });
  if (impossible || fell(whole) || any_cpu(time, fell)) return StealVerdict::unusable;
  if (!time.container_view.empty()) return StealVerdict::not_observable;

  const auto climbed = [](const CpuRow& row) { return row.columns[k_steal].delta_ticks.value_or(0) > 0; };
  if (climbed(whole) || any_cpu(time, climbed)) return StealVerdict::proved;
  const auto climbed_before = [](const CpuRow& row) { return row.columns[k_steal].before.value_or(0) > 0; };
  const bool read = whole.columns[k_steal].delta_ticks.has_value();
  const bool alive = climbed_before(whole) || any_cpu(time, climbed_before);
  const bool could = read && (alive || facts.steal_clock == StealClock::offered);
  return could ? StealVerdict::none_seen : StealVerdict::not_observable;
}

std::vector<std::string> container_evidence(const Difference& difference, const CpuTimeFacts& facts) {
  std::vector<std::string> evidence = facts.container_view;
  for (const Reading* reading : {&difference.before(), &difference.after()}) {
    for (const std::string& note : reading->notes) {
      const auto view = after_prefix(note, "view: container");
      if (!view) continue;
      const std::string why(trim(view->substr(std::min(view->find_first_not_of("; "), view->size()))));
      if (std::find(evidence.begin(), evidence.end(), why) == evidence.end()) evidence.push_back(why);
    }
  }
  return evidence;
}

void take_cpus(const CpuSets& sets, const Difference& difference, CpuTime& time) {
  for (const auto& [cpu, in] : sets.cpus) {
    const std::string name(cpu.second);
    switch (in) {
      case CpuSets::In::both:
        time.cpus.push_back(cpu_row(difference, name));
        break;
      case CpuSets::In::first:
        time.gone.push_back(name);
        break;
      case CpuSets::In::second:
        time.appeared.push_back(name);
        break;
      case CpuSets::In::one_of_a_cut_pair:
        time.unread.push_back(name);
        break;
    }
  }
}

std::optional<std::uint64_t> without(const ColumnTime& column, const ColumnTime& part) {
  if (!column.delta_ticks) return std::nullopt;
  return *column.delta_ticks - std::min(*column.delta_ticks, part.delta_ticks.value_or(0));
}

}  // namespace

std::string_view column_name(CpuColumn column) { return k_column_names[static_cast<std::size_t>(column)]; }

std::optional<CpuColumn> column_of_name(std::string_view name) {
  for (std::size_t i = 0; i < k_cpu_columns; ++i) {
    if (k_column_names[i] == name) return static_cast<CpuColumn>(i);
  }
  return std::nullopt;
}

std::string_view verdict_name(StealVerdict verdict) {
  switch (verdict) {
    case StealVerdict::proved:
      return "proved";
    case StealVerdict::none_seen:
      return "none seen";
    case StealVerdict::not_observable:
      return "not observable";
    case StealVerdict::unusable:
      return "unusable";
  }
  return "not observable";
}

std::optional<double> CpuRow::share(CpuColumn column) const {
  if (!total_ticks || *total_ticks == 0 || (without_steal && column == CpuColumn::steal)) return std::nullopt;
  std::optional<std::uint64_t> ticks = at(column).delta_ticks;
  // A part of another column cannot be more than that column, whatever rounding made of it.
  if (column == CpuColumn::guest || column == CpuColumn::guest_nice) {
    const auto& around = at(column == CpuColumn::guest ? CpuColumn::user : CpuColumn::nice).delta_ticks;
    ticks = ticks && around ? std::optional(std::min(*ticks, *around)) : std::nullopt;
  }
  if (!ticks) return std::nullopt;
  return static_cast<double>(*ticks) / static_cast<double>(*total_ticks);
}

std::optional<std::uint64_t> CpuRow::user_without_guest() const {
  return without(at(CpuColumn::user), at(CpuColumn::guest));
}

std::optional<std::uint64_t> CpuRow::nice_without_guest() const {
  return without(at(CpuColumn::nice), at(CpuColumn::guest_nice));
}

CpuTime cpu_time(const Difference& difference, const CpuTimeFacts& facts) {
  CpuTime time;
  time.interval = difference.interval();
  time.partial = !difference.whole_before() || !difference.whole_after();
  time.container_view = container_evidence(difference, facts);

  const CpuSets sets = cpu_sets(difference);
  take_cpus(sets, difference, time);
  if (sets.aggregate) time.aggregate = cpu_row(difference, "cpu");
  leave_out_beyond_time(time, facts.ticks_per_second);
  if (time.interval && !time.cpus.empty()) {
    const auto ticks_per_second = static_cast<double>(facts.ticks_per_second);
    time.available_ticks = time.interval->seconds() * ticks_per_second * static_cast<double>(time.cpus.size());
  }

  // The kernel's first row sums every possible CPU and takes the idle time of an offline one from another
  // source: where the set of CPUs changed, that row is bent.
  const bool changed = !time.gone.empty() || !time.appeared.empty() || !time.beyond_time.empty();
  time.summed = !time.aggregate || changed || (!time.unread.empty() && !time.cpus.empty());
  CpuRow whole = time.summed ? sum_of(time.cpus) : *time.aggregate;

  time.steal = judge_steal(time, whole, facts);
  const bool without_steal = time.steal == StealVerdict::unusable;
  settle_total(whole, without_steal);
  for (CpuRow& row : time.cpus) settle_total(row, without_steal);
  if (time.aggregate && !time.summed && time.container_view.empty()) settle_total(*time.aggregate, without_steal);
  const bool shown = time.container_view.empty() && (time.aggregate || !time.cpus.empty());
  if (shown) time.runner = whole;
  return time;
}

}  // namespace cozy
