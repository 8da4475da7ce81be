#include "collector/analyse/interval.hpp"

namespace cozy {

namespace {

/// Beyond this no clock of ours stands (year 2116); below it no difference of two stamps overflows.
constexpr std::int64_t k_stamp_limit = std::int64_t{1} << 62U;

struct Span {
  std::int64_t begin_ns;
  std::int64_t end_ns;
};

std::optional<Span> span_of(const ReadSpan& read, std::int64_t Stamp::*clock) {
  if (!read.begin || !read.end) return std::nullopt;
  const Span span{(*read.begin).*clock, (*read.end).*clock};
  const bool sound = span.begin_ns > 0 && span.end_ns >= span.begin_ns && span.end_ns < k_stamp_limit;
  return sound ? std::optional(span) : std::nullopt;
}

bool whole_seconds(const Span& span) {
  return span.begin_ns % k_ns_per_second == 0 && span.end_ns % k_ns_per_second == 0;
}

/// `date +%s` cuts the fraction off: a read that ended in second B ended before B + 1.
void widen_whole_seconds(Span& before, Span& after) {
  if (!whole_seconds(before) || !whole_seconds(after)) return;
  before.end_ns += k_ns_per_second;
  after.end_ns += k_ns_per_second;
}

std::optional<Interval> between_spans(const Span& before, const Span& after, bool wall_clock) {
  const std::int64_t shortest = after.begin_ns - before.end_ns;
  const std::int64_t longest = after.end_ns - before.begin_ns;
  const std::int64_t length = shortest / 2 + longest / 2 + (shortest % 2 + longest % 2) / 2;
  if (length <= 0) return std::nullopt;
  return Interval{length, longest - length, wall_clock};
}

}  // namespace

double Interval::seconds() const { return static_cast<double>(length_ns) / static_cast<double>(k_ns_per_second); }

double Interval::error_seconds() const { return static_cast<double>(error_ns) / static_cast<double>(k_ns_per_second); }

std::optional<Interval> interval_between(const ReadSpan& before, const ReadSpan& after) {
  const auto boot_before = span_of(before, &Stamp::boottime_ns);
  const auto boot_after = span_of(after, &Stamp::boottime_ns);
  if (boot_before && boot_after) return between_spans(*boot_before, *boot_after, false);
  auto epoch_before = span_of(before, &Stamp::epoch_ns);
  auto epoch_after = span_of(after, &Stamp::epoch_ns);
  if (!epoch_before || !epoch_after) return std::nullopt;
  widen_whole_seconds(*epoch_before, *epoch_after);
  return between_spans(*epoch_before, *epoch_after, true);
}

}  // namespace cozy
