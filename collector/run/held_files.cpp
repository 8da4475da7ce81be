#include "collector/run/held_files.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "probes/text.hpp"
#include "probes/thread_stat.hpp"

namespace cozy {

HeldFile::HeldFile(const std::string& path)
    : file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)) {}

std::optional<std::string_view> HeldFile::read() const {
  static std::array<char, 64UL * 1024> buffer;
  if (!file_.open()) return std::nullopt;
  ssize_t got = 0;
  do {
    got = ::pread(file_.number(), buffer.data(), buffer.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return std::nullopt;
  return std::string_view(buffer.data(), static_cast<std::size_t>(got));
}

std::optional<SchedTimes> read_sched_times(const HeldFile& file) {
  const auto text = file.read();
  if (!text) return std::nullopt;
  const auto words = split_words(trim(*text));
  if (words.size() != 3) return std::nullopt;
  const auto ran = parse_u64(words[0]);
  const auto waited = parse_u64(words[1]);
  if (!ran || !waited) return std::nullopt;
  return SchedTimes{*ran, *waited};
}

std::optional<char> read_thread_state(const HeldFile& file) {
  const auto text = file.read();
  const auto stat = text ? parse_thread_stat(*text) : Error{"", "not read", 0};
  if (!stat) return std::nullopt;
  return stat->state;
}

}  // namespace cozy
