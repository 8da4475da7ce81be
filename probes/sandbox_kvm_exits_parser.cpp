#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "reading.hpp"
#include "text.hpp"

namespace cozy {

namespace {

constexpr std::size_t k_most_values = 262144;
constexpr std::size_t k_most_kinds = 8192;

/// A debugfs file of mode 0444 is an instant value (KVM_STATS_TYPE_INSTANT, virt/kvm/kvm_main.c); one of
/// mode 0644 is a counter or a peak, which the legend tells apart by name. *_hist is one integer of a
/// histogram there and means nothing. Rows of the shell carry no mode.
Kind kind_of(std::string_view field, std::string_view mode) {
  if (field.ends_with("_hist")) return Kind::histogram;
  const bool gauge = mode.size() == 4 && mode[0] == '0' && mode[1] == '4';
  return gauge ? Kind::instant : Kind::unknown;
}

std::optional<Value> parse_value(std::string_view word) {
  if (const auto number = parse_u64(word)) return Value(*number);
  if (const auto number = parse_i64(word)) return Value(*number);
  return std::nullopt;
}

/// "vm 2231-14", "vm 2231-14 vcpu0": the name stands behind one blank.
bool is_vm(std::string_view scope) {
  const auto name = after_prefix(scope, "vm ");
  return name && !name->empty() && name->front() != ' ';
}

/// "log-histogram seconds 10^-9"
std::string join_words(const std::vector<std::string_view>& words, std::size_t begin, std::size_t end) {
  std::string text;
  for (std::size_t i = begin; i < end && i < words.size(); ++i)
    text += (text.empty() ? "" : " ") + std::string(words[i]);
  return text;
}

/// Reads the lines of a capture, ours or the shell's.
class KvmLines {
 public:
  explicit KvmLines(Reading& reading) : reading_(reading) {}

  void take(std::string_view line) {
    if (line.starts_with("NO-KVM-DIR") || line.starts_with("NO-COUNTER-FILES")) reading_.finding = line;
    if (line.starts_with("NO-DEBUGFS")) reading_.unavailable = line;
    if (!line.starts_with('[')) return;
    const std::size_t refused = reading_.refused.size();
    if (parse_common_line(line, reading_)) {
      if (reading_.refused.size() > refused) add_words(reading_.partial, reading_.refused.back());
    } else if (line.starts_with("[skipped ")) {
      skipped(line);
    } else if (line.starts_with("[counters read: ")) {
      totals(line);
    } else if (const auto mode = after_prefix(line, "[kernel lockdown: ")) {
      if (lockdown_said_) return;
      lockdown_said_ = true;
      reading_.add("kernel", "lockdown", std::string(mode->substr(0, mode->rfind(']'))), Kind::instant);
    } else if (line.starts_with("[lockdown: ")) {
      reading_.counters_refused = true;
    } else if (const auto by = after_prefix(line, "[kinds by ")) {
      kinds_by(*by);
    } else if (const auto kind = after_prefix(line, "[kind] ")) {
      kernel_kind(*kind);
    } else if (line.ends_with(" left while it was read]")) {
      add_words(reading_.partial,
                std::string(line.substr(1, line.size() - 2)) + "; what else was read is whole and may be paired");
    } else if (line.ends_with(" left during the walk]")) {
      add_words(reading_.notes, std::string(line.substr(1, line.size() - 2)));
    } else if (line.starts_with("[vm ") && line.ends_with(']') && line.find(" is ") != std::string_view::npos) {
      vm_node(line);
    } else if (line.starts_with("[vcpu ")) {
      vcpu(line);
    } else {
      value(line);
    }
  }

  void finish() {
    give_kinds();
    if (any_vcpu_) settle_sources();
    if (no_vm_ && any_ && !any_vm_ && !any_vcpu_) reading_.notes.emplace_back("KVM is loaded and no VM is alive");
    if (!any_ && reading_.finding.empty() && reading_.unavailable.empty()) {
      reading_.unavailable = "no counter in the text";
    }
  }

 private:
  /// "[vm 2231-14 vcpu0] tsc-offset -123 0444" -> scope "vm 2231-14 vcpu0".
  void value(std::string_view line) {
    const std::size_t close = line.find("] ");
    const std::string_view scope = line.substr(1, close == std::string_view::npos ? close : close - 1);
    if (close == std::string_view::npos || (scope != "global" && !scope.starts_with("vm "))) return;
    const auto words = split_words(line.substr(close + 2));
    // What does not look like a value is a sentence about "[global]".
    if (words.size() < 2 || (words[1][0] != '-' && !parse_u64(words[1].substr(0, 1)))) return;
    if (scope != "global" && !is_vm(scope)) return rejected(line, "names no VM");
    const auto number = words.size() <= 3 ? parse_value(words[1]) : std::nullopt;
    const bool mode = words.size() == 2 || (words[2].size() == 4 && parse_u64(words[2]));
    if (!number || !mode) return rejected(line, "is not whole");
    if (seen_.size() == k_most_values) return rejected(line, "is one too many");
    if (!seen_.insert(std::string(scope) + "\n" + std::string(words[0])).second)
      return rejected(line, "stands there twice");
    const Kind kind = kind_of(words[0], words.size() == 3 ? words[2] : std::string_view());
    reading_.add(std::string(scope), std::string(words[0]), *number, kind);
    any_ = true;
    any_vm_ = any_vm_ || scope != "global";
  }

  /// [vm 2605-11 is srv1; evidence: ...]
  void vm_node(std::string_view line) {
    const std::size_t is = line.find(" is ");
    const std::string scope(line.substr(1, is - 1));
    const std::string_view node = line.substr(is + 4);
    if (node.starts_with("anonymous; ")) return;
    if (!is_vm(scope)) return;
    if (!seen_.insert(scope + "\nnode").second) return;
    reading_.add(scope, "node", std::string(node.substr(0, node.find_first_of(";]"))), Kind::instant);
    const auto evidence = between(node, "; evidence: ", "]");
    if (evidence) reading_.add(scope, "node-evidence", std::string(*evidence), Kind::instant);
  }

  /// [kinds by descriptors: 16 of a VM and 47 of a vCPU, ...]
  void kinds_by(std::string_view words) {
    if (!seen_.insert("kernel\nkinds").second) return;
    reading_.add("kernel", "kinds", std::string(words.substr(0, words.find_first_of(":]"))), Kind::instant);
  }

  /// [kind] halt_wait_ns cumulative seconds 10^-9
  void kernel_kind(std::string_view line) {
    const auto words = split_words(line);
    if (words.size() != 4 || kinds_.size() == k_most_kinds) return;
    const Kind kind = kind_of_name(words[1]).value_or(Kind::histogram);  // of another type nothing is subtracted
    const auto known = kinds_.emplace(words[0], kind).first;
    if (known->second != kind) known->second = Kind::unknown;  // a VM and a vCPU use the name for two things
  }

  /// The kernel's own word on a file of debugfs is worth more than the file's mode.
  void give_kinds() {
    if (kinds_.empty()) return;
    for (Row& row : reading_.rows) {
      if (row.scope != "global" && !row.scope.starts_with("vm ")) continue;
      const auto known = kinds_.find(row.field);
      if (known != kinds_.end() && known->second != Kind::unknown) row.kind = known->second;
    }
  }

  /// The vCPUs' own statistics are data by themselves: what debugfs lacks is said beside them.
  void settle_sources() {
    if (reading_.counters_refused)
      reading_.notes.emplace_back(
          "debugfs counters of whole VMs were refused by kernel lockdown; the vCPUs' own statistics were read");
    for (std::string* words : {&reading_.finding, &reading_.unavailable}) {
      if (words->empty()) continue;
      reading_.notes.push_back("vCPU statistics were read, and debugfs says otherwise: " + *words);
      words->clear();
    }
  }

  /// [vcpu srv1/vcpu0 is kvm-2607/vcpu-0 of process 2605 start 208626 read from A to B boot-time ns]
  /// [vcpu srv1/vcpu0] halt_wait_ns 4500000000 cumulative seconds 10^-9
  void vcpu(std::string_view line) {
    const std::size_t close = line.find("] ");
    if (close == std::string_view::npos) return vcpu_subject(line);
    const std::string scope(line.substr(6, close - 6));
    const auto words = split_words(line.substr(close + 2));
    if (words.size() < 5) return rejected(line, "is not whole");
    if (trim(scope).empty()) return rejected(line, "names no vCPU");
    Kind kind = kind_of_name(words[2]).value_or(Kind::histogram);
    const auto values = split_at(words[1], ',');
    if (values.size() > 1) kind = Kind::histogram;
    if (seen_.size() + values.size() > k_most_values) return rejected(line, "is one too many");
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto number = parse_u64(values[i]);
      if (!number) return rejected(line, "is not whole");
      const std::string bucket = kind == Kind::histogram ? "[" + std::to_string(i) + "]" : "";
      const std::string field = std::string(words[0]) + bucket;
      if (!seen_.insert(scope + "\n" + field).second) return rejected(line, "stands there twice");
      reading_.add(scope, field, *number, kind);
    }
    // What its buckets are of stands beside them.
    if (kind == Kind::histogram && seen_.insert(scope + "\n" + std::string(words[0])).second)
      reading_.add(scope, std::string(words[0]), join_words(words, 2, 5), kind);
    any_ = true;
    any_vcpu_ = true;
  }

  void vcpu_subject(std::string_view line) {
    const std::size_t is = line.find(" is kvm-");
    const std::size_t read = line.find(" read from ");
    if (is == std::string_view::npos || read == std::string_view::npos || is < 6 || read < is) return;
    Subject subject;
    subject.scope = line.substr(6, is - 6);
    if (trim(subject.scope).empty()) return;
    subject.identity = line.substr(is + 4, read - is - 4);
    const auto words = split_words(line.substr(read));
    const auto begin = words.size() > 4 ? parse_i64(words[2]) : std::nullopt;
    const auto end = words.size() > 4 ? parse_i64(words[4]) : std::nullopt;
    if (begin && end && *begin <= *end) {
      subject.begin = Stamp{*begin, 0};
      subject.end = Stamp{*end, 0};
    }
    constexpr std::size_t k_most_vcpus = 65536;
    if (reading_.subjects.size() < k_most_vcpus && vcpus_.insert(subject.scope).second)
      reading_.subjects.push_back(std::move(subject));
  }

  /// Cut in mid-line, with the next words glued to it: its number may be cut short.
  void rejected(std::string_view line, std::string_view why) {
    add_words(reading_.partial, "the line \"" + escape(line.substr(0, 64)) + "\" was rejected: it " + std::string(why));
  }

  void skipped(std::string_view line) {
    const auto scope = between(line, "[skipped ", "] ");
    if (!scope) return;
    const std::string_view what = line.substr(line.find("] ") + 2);
    const std::size_t colon = what.find(": ");
    if (colon == std::string_view::npos) return;
    const std::string words = std::string(*scope) + " " + std::string(what);
    add_words(reading_.refused, words);
    if (what.substr(colon + 2).starts_with("could not be read")) add_words(reading_.partial, words);
  }

  /// [counters read: G kernel-wide and V per-VM, across D per-VM director(ies); S file(s) skipped]: absent
  /// when the walk was cut.
  void totals(std::string_view line) {
    const auto directories = between(line, ", across ", " per-VM director");
    no_vm_ = directories == "0";
  }

  Reading& reading_;
  std::unordered_set<std::string> seen_;
  bool lockdown_said_ = false;
  bool any_ = false;
  bool any_vm_ = false;
  bool any_vcpu_ = false;
  std::unordered_set<std::string> vcpus_;
  std::unordered_map<std::string, Kind> kinds_;  ///< of debugfs's files, by KVM's own descriptors
  bool no_vm_ = false;                           ///< the walk was whole and met no VM
};

}  // namespace

Reading parse_sandbox_kvm_exits(std::string_view text) {
  Reading reading;
  KvmLines lines(reading);
  for (const std::string_view line : whole_lines(text, reading)) lines.take(line);
  lines.finish();
  return reading;
}

}  // namespace cozy
