#include "collector/analyse/difference.hpp"

#include <cmath>

#include "collector/analyse/compared_rows.hpp"
#include "collector/analyse/cpu_time.hpp"
#include "collector/analyse/kvm_rates.hpp"
#include "collector/analyse/vcpu_budget.hpp"
#include "tests/fuzz/analyses.hpp"
#include "tests/fuzz/fuzz.hpp"
#include "tests/fuzz/sections.hpp"

namespace cozy::fuzz {

namespace {

ReadSide side_of(const SampleCapture& file) {
  return {file.reading,
          {file.capture.begin_stamp, file.capture.end_stamp},
          file.capture.judgement.outcome == Outcome::complete};
}

void require_sound_row(const RowChange& row) {
  require(row.before != nullptr || row.after != nullptr, "a row stands in a reading");
  require(row.delta.has_value() == (row.change == Change::rate), "a rate has a delta, and nothing else has one");
  if (row.delta) {
    const auto before = counter_value(row.before->value);
    const auto after = counter_value(row.after->value);
    require(row.kind == Kind::cumulative, "only a cumulative row is subtracted");
    require(before && after && *after >= *before && *row.delta == *after - *before, "a delta is what was added");
  }
  if (row.interval) require(row.interval->length_ns > 0 && row.interval->error_ns >= 0, "an interval has a length");
  require_share_of(row.per_second(), std::nullopt);
}

void compare(const SampleCapture& first, const SampleCapture& second, const Legend& legend) {
  const ReadSide before = side_of(first);
  const ReadSide after = side_of(second);
  PairRules rules = kvm_pair_rules(first.reading, second.reading, &legend);
  for (const bool clearable : {false, true}) {
    rules.clearable = clearable;
    const Difference rows = difference(before, after, rules);
    for (const RowChange& row : rows.rows()) {
      require_sound_row(row);
      require(rows.find(row.scope(), row.field()) == &row, "a row is found under its name");
    }
    const ComparedRows kept(rows);
    require(kept.rows().size() + kept.left_out() == rows.rows().size(), "rows are kept or counted");
    require_sound(cpu_time(rows, {}));
    for (const NodeBudget& node : vcpu_budget(rows, {})) require_sound(node);
    for (const VmRate& vm : kvm_rates(rows).vms) require_share_of(vm.exits_per_second, std::nullopt);
  }
}

}  // namespace

void difference(std::string_view bytes) {
  const Report report = report_of_sections(bytes);
  for (const Snapshot& snapshot : report.snapshots) {
    for (const Legend& legend : legends()) {
      const SampleCapture* first = snapshot.find(legend.capture, 1);
      const SampleCapture* second = snapshot.find(legend.capture, 2);
      if (first == nullptr) continue;
      compare(*first, second == nullptr ? *first : *second, legend);
    }
  }
}

}  // namespace cozy::fuzz
