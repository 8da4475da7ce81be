#include "collector/render/neutral.hpp"

#include <array>
#include <functional>

#include "probes/probe.hpp"
#include "probes/thread_stat.hpp"
#include "tests/analyse/case_files.hpp"

namespace cozy {

namespace {

using cases::Answer;

/// What the runner of GitHub Actions would obey: "::NAME::" behind white space, "##[NAME]" anywhere.
bool is_command(std::string_view line) {
  static constexpr std::array<std::string_view, 6> k_spaces{
      " ", "\t", "\xc2\xa0", "\xe2\x80\x83", "\xe3\x80\x80", "\xef\xbb\xbf"};
  if (line.find("##[") != std::string_view::npos) return true;
  for (bool found = true; found;) {
    found = false;
    for (const std::string_view space : k_spaces) {
      if (!line.starts_with(space)) continue;
      line.remove_prefix(space.size());
      found = true;
    }
  }
  return line.starts_with("::");
}

std::string hex(std::string_view bytes) {
  static constexpr std::string_view k_digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    out += k_digits[static_cast<unsigned char>(c) >> 4U];
    out += k_digits[static_cast<unsigned char>(c) & 0xfU];
  }
  return out;
}

/// The threads of a case through the probe's own line and parser.
Reading threads_of(const std::string& id, const std::string& pid) {
  std::string text = "process " + pid + " comm qemu-system-x86\n";
  const std::string threads = cases::file(id, "threads.txt");
  for (const std::string_view line : split_lines(threads)) text += thread_stat_line(std::string(line) + "\n") + "\n";
  return find_probe("sandbox-qemu-thread-cpu")->parse(text);
}

std::vector<std::string> names_of(const Reading& reading) {
  std::vector<std::string> names;
  for (const Row& row : reading.rows) {
    if (row.field == "comm" && row.scope.starts_with("thread ")) names.push_back(value_text(row.value));
  }
  return names;
}

std::uint64_t count_commands(const std::vector<std::string>& names) {
  std::uint64_t count = 0;
  for (const std::string& name : names) {
    const std::string shown = neutral(name);
    CHECK(unescape(shown) == name);
    CHECK(split_lines(shown).size() == 1);
    if (is_command(shown) || is_command("  " + shown)) ++count;
  }
  return count;
}

}  // namespace

TEST_CASE("neutral: separators and commands behind Unicode white space") {
  const Reading reading = threads_of("A09", "30");
  const auto names = names_of(reading);
  std::string shown;
  for (const std::string& name : names) shown += neutral(name) + "\n";
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    if (key == "rows") return Answer(std::uint64_t{names.size()});
    if (key == "31.comm.hex") return Answer(hex(reading.word("thread 30/31", "comm")));
    if (key == "lines.that.are.commands") return Answer(count_commands(names));
    if (key == "lines.with.hash.hash.bracket") return Answer(shown.find("##[") == std::string::npos ? "0" : "1");
    if (key == "35.comm.shown") return Answer(neutral(reading.word("thread 30/35", "comm")));
    if (key != "output.never.contains.hex") return std::nullopt;
    const std::string bytes = hex(shown);
    for (const char* sequence : {"e280a8", "e280a9", "c285"}) {
      if (bytes.find(sequence) != std::string::npos) return Answer(sequence);
    }
    return Answer("e280a8 e280a9 c285");
  };
  cases::check_case("A09", answer, [&] { return shown; });
}

TEST_CASE("neutral: names that are commands, and the properties of annotations") {
  const Reading reading = threads_of("A15", "40");
  const auto names = names_of(reading);
  const auto answer = [&](const std::string& key) -> std::optional<Answer> {
    const std::string property = neutral(reading.word("thread 40/44", "comm"));
    if (key == "rows") return Answer(std::uint64_t{names.size()});
    if (key == "lines.that.are.commands.besides.own") return Answer(count_commands(names));
    if (key == "41.utime") return Answer(reading.number("thread 40/41", "utime"));
    if (key == "43.comm.bytes") return Answer(std::uint64_t{reading.word("thread 40/43", "comm").size()});
    if (key == "44.as.annotation.property") return Answer(annotation_property(property));
    if (key == "44.as.annotation.message") return Answer(annotation_message(property));
    return std::nullopt;
  };
  cases::check_case("A15", answer, [] { return std::string(); });
}

TEST_CASE("neutral: every form of a command is broken where it is seen") {
  for (const char* text :
       {"::error::x", "  ::error::x", "\xe3\x80\x80::error file=a::x", "\xef\xbb\xbf::error::x", ":::error::x",
        "::::", "::", "##[error]x", "a ##[error]", "###[x", "##[##[", "\t::error::", "\n::error::"}) {
    INFO(text << " -> " << neutral(text));
    CHECK_FALSE(is_command(neutral(text)));
    CHECK(unescape(neutral(text)) == text);
  }
  CHECK(neutral("a::error::b") == "a:\\x3aerror::b");
  CHECK(neutral("##[group]") == "#\\x23[group]");
}

TEST_CASE("neutral: what is harmless stays as it is") {
  for (const char* text : {"", "srv1", "fe80::1", "plain \xc3\xa9", "CPU 0/KVM", "#1 [2]", "a:b"})
    CHECK(neutral(text) == text);
  CHECK(neutral("a\\b") == "a\\x5cb");
  CHECK(neutral_escaped("a\\x5cb") == "a\\x5cb");
  CHECK(neutral_escaped("\\x0a::x") == "\\x0a::x");
  CHECK(neutral_escaped("\\x3a:x::") == ":\\x3ax::");
}

TEST_CASE("annotation: percent signs and line ends") {
  CHECK(annotation_message("50% of\r\na: b, c") == "50%25 of%0D%0Aa: b, c");
  CHECK(annotation_property("50% of\r\na: b, c") == "50%25 of%0D%0Aa%3A b%2C c");
}

}  // namespace cozy
