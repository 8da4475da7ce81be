#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "collector/analyse/compared_rows.hpp"
#include "collector/analyse/cpu_time.hpp"
#include "collector/analyse/finding.hpp"
#include "collector/analyse/interval.hpp"
#include "collector/analyse/kvm_rates.hpp"
#include "collector/analyse/pressure.hpp"
#include "collector/analyse/steal_clock.hpp"
#include "collector/analyse/timeline_facts.hpp"
#include "collector/analyse/timeline_series.hpp"
#include "collector/analyse/vcpu_budget.hpp"
#include "collector/report/report.hpp"

/// What the two samples of one bracket mean. Holds its own data: the snapshot may go.
namespace cozy {

/// One capture of one sample, whether its file is there or not.
struct CaptureState {
  std::string name;
  int sample = 1;
  Outcome outcome = Outcome::unavailable;
  std::string reason;  ///< empty for a complete one
  std::optional<Stamp> begin;
  std::optional<Stamp> end;
  std::vector<std::string> stalled;
  std::string file;          ///< inside the report; empty where there is none
  bool gauges_only = false;  ///< unavailable for a pair, and yet there are values to show as states
};

/// What a sample lacks and what follows from it, each in words.
struct Shortfall {
  std::string capture;
  int sample = 1;
  Outcome outcome = Outcome::unavailable;
  std::string reason;
  std::string consequence;
  std::optional<Stamp> at;  ///< when it was read
};

/// Two readings of one capture that both hold data.
struct ComparedPair {
  std::string capture;
  std::optional<Interval> interval;
  bool partial = false;  ///< one side is less than whole: only rows that are there are compared
  ComparedRows rows = {};
};

struct Analysis {
  std::string snapshot;
  int last_sample = 2;             ///< 1: nothing is compared yet
  std::optional<Interval> window;  ///< of the pair whose stamps are the narrowest
  std::vector<CaptureState> captures;
  std::vector<ComparedPair> pairs;
  std::vector<Shortfall> shortfalls;
  std::vector<std::string>
      not_written;  ///< captures that whoever wrote the report, the shell collectors, does not know

  std::optional<CpuTime> runner;  ///< absent where runner-kernel-cpu-time has no pair
  std::vector<NodeBudget> nodes;
  std::optional<KvmRates> kvm;  ///< absent where sandbox-kvm-exits has no pair
  ComparedRows kvm_gauges;      ///< of sandbox-kvm-exits where it holds gauges alone: states, no pair
  std::optional<Pressure> pressure;
  std::optional<TimelineFacts> timeline;  ///< absent where none was written
  std::optional<TimelineSeries> series;   ///< the same timeline as it is drawn; absent where it was not asked for
  std::vector<Row> shape;                 ///< facts of runner-shape, as its parser made them

  std::uint64_t ticks_per_second = 100;
  StealClockFacts steal_clock;
  bool truncated = false;  ///< the report ends before its end

  std::vector<Finding> findings;  ///< the worst first
  std::string verdict;            ///< one sentence; empty before sample 2

  [[nodiscard]] const CaptureState* capture(std::string_view name, int sample) const;
  [[nodiscard]] const ComparedPair* pair(std::string_view name) const;
  /// A fact of runner-shape as text; empty where it is absent.
  [[nodiscard]] std::string shape_fact(std::string_view name) const;
  /// What the runner's CPUs spent in a column, summed over them; absent where the column has no delta.
  [[nodiscard]] std::optional<double> cpu_seconds(CpuColumn column) const;
};

struct AnalysisOptions {
  std::span<const Legend> known = legends();          ///< every capture that there can be
  std::set<std::string, std::less<>> not_asked = {};  ///< left out on purpose, so that nothing is missing
  int last_sample = 2;                                ///< 1 before the wait
  std::optional<bool> wait_passed = std::nullopt;     ///< how the bracketed command ended, where it is known
  bool truncated = false;                             ///< the report ends before its end
  bool series = false;                                ///< make Analysis::series: for the renderings that draw it
};

/// Only captures of both samples that both hold data are compared; whatever falls short is said. Findings and
/// the verdict are made by the rules, see rules.hpp and verdict.hpp.
Analysis analyse(const Snapshot& snapshot, const AnalysisOptions& options = {});

}  // namespace cozy
