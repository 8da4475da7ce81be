#include "collector/run/tenant_sample.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "collector/report/files.hpp"
#include "collector/run/bounded.hpp"
#include "collector/run/child.hpp"
#include "collector/run/spawn.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::int64_t k_write_bound_ns = 5 * k_ns_per_second;
constexpr std::string_view k_exec_error = ".exec-error.log";
constexpr std::string_view k_warnings = ".READ-WARNINGS.txt";

/// What one pod came to.
struct TenantRead {
  Capture capture;
  std::string messages;
};

ChildBound bound_of(const SampleOptions& options) {
  ChildBound bound;
  bound.timeout_ns = options.read_timeout_ns;
  bound.grace_ns = options.read_grace_ns;
  bound.interrupt_fd = options.interrupt_fd;
  return bound;
}

std::vector<TenantRead> read_pods(const SampleOptions& options, const std::vector<PodTarget>& pods,
                                  const std::string& kubectl, int sample) {
  const std::string why_not = why_not_streamed(options.program);
  ChildBound bound = bound_of(options);
  if (why_not.empty()) bound.input = options.program;
  std::vector<std::vector<std::string>> commands;
  for (const PodTarget& pod : pods) commands.push_back(tenant_command(kubectl, pod, options.read_timeout_ns, why_not));
  const TenantBound said{sample, options.snapshot, options.read_timeout_ns, options.read_grace_ns};
  std::vector<TenantRead> reads(pods.size());
  run_children(commands, bound, [&](std::size_t i, ChildOutput output) {
    reads[i].capture = tenant_capture(pods[i], output, said);
    reads[i].messages = std::move(output.messages);
  });
  return reads;
}

/// The folder of a sample, as it is written by one process.
struct Folder {
  std::string directory;
  std::vector<std::pair<std::string, std::string>> files;  ///< name and text
  std::vector<std::string> stale;                          ///< what an earlier sample may have left
  std::string failed;
  std::string truncated;
};

constexpr std::string_view k_written = "written";

/// A line for each file, and one for the rest: "written", or why it could not be.
std::string write_folder(const Folder& folder, const std::string& report_dir) {
  std::vector<std::string> words;
  for (const auto& [name, text] : folder.files) {
    const auto written = write_file(folder.directory, name, text);
    words.push_back(written ? std::string(k_written) : make_line(written.error().text()));
  }
  for (const std::string& name : folder.stale) ::unlink((folder.directory + "/" + name).c_str());
  std::string whole(k_written);
  for (const auto& [name, text] : {std::pair<const char*, const std::string&>("COLLECTION-FAILED.txt", folder.failed),
                                   {"COLLECTION-TRUNCATED.txt", folder.truncated}}) {
    if (text.empty()) {
      ::unlink((folder.directory + "/" + name).c_str());
      continue;
    }
    const auto written = write_file(folder.directory, name, text);
    if (!written) whole = make_line(written.error().text());
  }
  const auto legend = write_file(report_dir + "/legends", tenant_legend().capture + ".json", tenant_legend().json);
  if (!legend) whole = make_line(legend.error().text());
  words.push_back(whole);
  return join(words, "\n");
}

/// Puts a pod's capture and the messages of its read into the folder.
void add_to(Folder& folder, const std::string& name, TenantRead& read) {
  const bool failed = !read.capture.end.shortfall.empty() || !holds_data(read.capture.judgement.outcome);
  const std::string kept = name + std::string(failed ? k_exec_error : k_warnings);
  for (const std::string_view ending : {k_exec_error, k_warnings}) {
    const std::string beside = name + std::string(ending);
    if (read.messages.empty() || beside != kept) folder.stale.push_back(beside);
  }
  if (!read.messages.empty()) read.capture.sidecar = kept;
  folder.files.emplace_back(name + ".txt", format_capture(read.capture, tenant_legend()));
}

std::string names_of(const std::vector<PodTarget>& pods) {
  std::vector<std::string> names;
  for (const PodTarget& pod : pods) names.push_back(pod.text());
  return join(names, ", ");
}

void write_all(const SampleOptions& options, const Folder& folder, TenantOutcome& outcome) {
  const auto words = run_bounded(k_write_bound_ns, [&] { return write_folder(folder, options.report_dir); });
  const auto lines = words ? split_at(*words, '\n') : std::vector<std::string_view>();
  const bool answered = lines.size() == folder.files.size() + 1;
  const auto why_not = [&](std::size_t i) {
    if (!words) return words.error().text();
    if (!answered) return make_line(*words);
    return lines[i] == k_written ? std::string() : std::string(lines[i]);
  };
  for (std::size_t i = 0; i < outcome.captures.size(); ++i) outcome.captures[i].write_error = why_not(i);
  const std::string why = why_not(folder.files.size());
  if (why.empty()) return;
  outcome.folder_written = false;
  outcome.shortfalls.push_back("not written: " + folder.directory + ": " + why);
}

}  // namespace

bool TenantOutcome::nothing_written() const {
  return !folder_written &&
         std::all_of(captures.begin(), captures.end(), [](const auto& c) { return !c.write_error.empty(); });
}

bool TenantOutcome::all_hold_data() const {
  return shortfalls.empty() && std::all_of(captures.begin(), captures.end(), [](const auto& c) {
           return holds_data(c.judgement.outcome) && c.write_error.empty();
         });
}

std::vector<std::string> tenant_file_names(const std::vector<PodTarget>& pods) {
  std::vector<std::string> names;
  for (const PodTarget& pod : pods) {
    const bool shared = std::any_of(pods.begin(), pods.end(),
                                    [&](const PodTarget& p) { return p.pod == pod.pod && p.space != pod.space; });
    // No name of Kubernetes holds a "_".
    names.push_back((shared ? pod.space + "_" : "") + pod.pod +
                    (pod.container == PodTarget{}.container ? "" : "_" + pod.container));
  }
  return names;
}

TenantOutcome take_tenant_sample(const SampleOptions& options, const TenantOptions& tenants, int sample) {
  TenantOutcome outcome;
  const std::int64_t begin_ns = boottime_ns();
  const auto program = find_program(tenants.kubectl);
  const std::string kubectl = program ? *program : tenants.kubectl;
  ChosenPods chosen = choose_pods(tenants, kubectl, bound_of(options));
  std::vector<TenantRead> reads = read_pods(options, chosen.pods, kubectl, sample);

  Folder folder;
  const std::string inside =
      "snapshots/" + options.snapshot + "/" + std::string(k_tenant_capture) + "/sample-" + std::to_string(sample);
  folder.directory = options.report_dir + "/" + inside;
  outcome.shortfalls = chosen.shortfalls;
  folder.failed = join(chosen.shortfalls, "\n") + (chosen.shortfalls.empty() ? "" : "\n");
  if (!chosen.left_out.empty()) {
    const std::size_t all = chosen.pods.size() + chosen.left_out.size();
    outcome.shortfalls.push_back(std::to_string(chosen.pods.size()) + " of " + std::to_string(all) +
                                 " pods were asked, as --max-pods says; not asked: " + names_of(chosen.left_out));
    folder.truncated = outcome.shortfalls.back() + "\n";
  }
  const std::vector<std::string> names = tenant_file_names(chosen.pods);
  for (std::size_t i = 0; i < reads.size(); ++i) {
    TenantRead& read = reads[i];
    add_to(folder, names[i], read);
    outcome.captures.push_back({chosen.pods[i].text(),
                                read.capture.judgement,
                                {},
                                read.capture.begin_stamp,
                                inside + "/" + names[i] + ".txt",
                                ""});
  }
  const std::size_t captures = folder.files.size();
  for (std::size_t i = 0; i < captures; ++i) {
    if (!reads[i].messages.empty()) folder.files.emplace_back(reads[i].capture.sidecar, reads[i].messages);
  }
  write_all(options, folder, outcome);
  outcome.took_ns = boottime_ns() - begin_ns;
  return outcome;
}

}  // namespace cozy
