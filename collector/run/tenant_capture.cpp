#include "collector/run/tenant_capture.hpp"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "collector/report/output_file.hpp"
#include "collector/run/probe_text.hpp"
#include "collector/run/tenant_pods.hpp"
#include "probes/probe.hpp"
#include "probes/text.hpp"

namespace cozy {

std::string_view tenant_legend_text();

namespace {

constexpr std::string_view k_probe = "sandbox-qemu-thread-cpu";
constexpr std::string_view k_way_mark = "[cozybracket way: ";

/// The first line says how the probe was run. None where not even that came.
std::optional<std::string> take_way(std::string_view& output) {
  const std::size_t end = output.find('\n');
  const auto way = after_prefix(output.substr(0, end), k_way_mark);
  if (end == std::string_view::npos || !way || !way->ends_with(']')) return std::nullopt;
  output.remove_prefix(end + 1);
  return escape(way->substr(0, way->size() - 1));
}

/// What the capture says where the probe came to no data at all.
std::string words_without_data(const ChildOutput& output, bool reached, const ProbeText& parts, const ReadEnd& end,
                               std::int64_t timeout_ns) {
  if (parts.begin) return "cut: the probe began in the container, and no thread came: " + end.words;
  if (reached) return "answered nothing: the container was reached, and its probe wrote nothing: " + end.words;
  if (!trim(output.text).empty())
    return "not understood: what came is not the probe's: \"" + escape(output.text.substr(0, 64)) + "\"";
  return unreached_words(output, timeout_ns);
}

}  // namespace

const Legend& tenant_legend() {
  static const Legend k_legend = [] {
    auto legend = parse_legend(tenant_legend_text());
    return legend ? std::move(*legend) : Legend{};
  }();
  return k_legend;
}

std::string why_not_streamed(const std::string& program) {
  const Descriptor file(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) return "the program cannot be read, " + errno_text(errno);
  Elf64_Ehdr header{};
  const bool whole = ::pread(file.number(), &header, sizeof header, 0) == sizeof header;
  if (!whole || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64)
    return "the program is no executable of this kind of machine";
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr part{};
    const auto at = static_cast<off_t>(header.e_phoff + std::uint64_t{i} * header.e_phentsize);
    if (::pread(file.number(), &part, sizeof part, at) != sizeof part) return "the program is not whole";
    if (part.p_type == PT_INTERP) return "this cozybracket is dynamically linked and would find no libraries there";
  }
  return "";
}

std::vector<std::string> tenant_command(const std::string& kubectl, const PodTarget& target, std::int64_t timeout_ns,
                                        const std::string& why_not) {
  std::vector<std::string> command{kubectl, "exec"};
  if (why_not.empty()) command.emplace_back("--stdin");
  const std::vector<std::string> rest{"--namespace=" + target.space,
                                      "--container=" + target.container,
                                      target.pod,
                                      "--",
                                      "sh",
                                      "-c",
                                      std::string(tenant_exec_text()),
                                      "cozybracket",
                                      fixed(static_cast<double>(timeout_ns) / 1e9, 9),
                                      why_not.empty() ? "stream" : why_not,
                                      std::string(thread_probe_shell_text())};
  command.insert(command.end(), rest.begin(), rest.end());
  return command;
}

Capture tenant_capture(const PodTarget& target, const ChildOutput& output, const TenantBound& bound) {
  std::string_view text = output.text;
  const auto way = take_way(text);
  ProbeText parts = take_apart(text);
  Capture capture;
  capture.name = k_tenant_capture;
  capture.sample = bound.sample;
  capture.snapshot = bound.snapshot;
  capture.bound_ns = bound.timeout_ns;
  capture.grace_ns = bound.grace_ns;
  capture.end = read_end(output, parts, bound.timeout_ns, bound.grace_ns);
  capture.begin_stamp = parts.begin && parts.end ? *parts.begin : output.begin;
  capture.end_stamp = parts.begin && parts.end ? *parts.end : output.finish;
  const Reading reading = find_probe(k_probe)->parse(parts.text);
  capture.judgement = judge(reading, capture.end, tenant_legend());
  const Outcome outcome = capture.judgement.outcome;
  if (outcome == Outcome::unavailable && !(parts.begin && parts.end))
    capture.judgement.reason = words_without_data(output, way.has_value(), parts, capture.end, bound.timeout_ns);
  if (outcome == Outcome::empty && capture.judgement.reason.starts_with("NO-QEMU-PROCESS: "))
    capture.judgement.reason = "no QEMU: " + capture.judgement.reason;
  capture.text = "[pod " + target.space + "/" + target.pod + " container " + target.container + "]\n";
  if (way) capture.text += "[read by " + *way + "]\n";
  capture.text += parts.text;
  return capture;
}

}  // namespace cozy
