#include "collector/run/machine_readings.hpp"

#include "collector/run/followed_qemu.hpp"
#include "probes/text.hpp"

namespace cozy {

namespace {

std::string list_of(const std::vector<std::string>& items) { return "[" + join(items, ",") + "]"; }

}  // namespace

MachineReadings::MachineReadings() : stat_("/proc/stat"), memory_("/proc/meminfo") {
  for (const char* resource : {"cpu", "io", "memory"})
    pressure_.emplace_back(std::string("/proc/pressure/") + resource);
}

std::string MachineReadings::members() {
  read_cpu();
  std::vector<std::string> columns;
  for (const auto& column : cpu_) columns.push_back(number_or_null(column));
  return R"("cpu":)" + list_of(columns) + R"(,"psi":)" + pressure_list() + R"(,"mem":)" + memory();
}

void MachineReadings::read_cpu() {
  cpu_.clear();
  const auto text = stat_.read();
  const auto line = text ? between(*text, "cpu ", "\n") : std::nullopt;
  for (const std::string_view word : line ? split_words(*line) : std::vector<std::string_view>{})
    cpu_.push_back(parse_u64(word));
}

std::string MachineReadings::pressure_list() const {
  std::vector<std::string> totals;
  for (std::size_t i = 0; i < pressure_.size(); ++i) {
    const auto text = pressure_[i].read();
    for (const std::string_view kind : {"some ", "full "}) {
      if (i == 0 && kind == "full ") continue;
      const std::size_t at = text ? text->find(kind) : std::string_view::npos;
      const auto total = at == std::string_view::npos ? std::nullopt : between(text->substr(at), "total=", "\n");
      totals.push_back(number_or_null(total ? parse_u64(*total) : std::nullopt));
    }
  }
  return list_of(totals);
}

std::string MachineReadings::memory() const {
  const auto text = memory_.read();
  const auto words = text ? between(*text, "MemAvailable:", " kB") : std::nullopt;
  return number_or_null(words ? parse_u64(trim(*words)) : std::nullopt);
}

}  // namespace cozy
