#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace cozy::test {

struct TableEntry {
  std::string name;
  std::uint32_t flags = 0;  ///< type in bits 0-3, unit in 4-7, base in 8-11
  std::vector<std::uint64_t> values = {0};
  std::int16_t exponent = 0;
};

/// How a file of statistics is laid out: everything that its header says.
struct TableLayout {
  std::uint32_t name_size = 48;
  std::uint32_t gap = 0;  ///< bytes that mean nothing, before each of the parts
};

/// A file of KVM's binary statistics: header, id, descriptions, values. kvm api.rst 4.133.
inline std::string kvm_table(std::string_view id, const std::vector<TableEntry>& entries, TableLayout layout = {}) {
  constexpr std::uint32_t k_header = 24;
  const auto put = [](std::string& bytes, auto number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
  };
  const auto put_text = [&layout](std::string& bytes, std::string_view text) {
    bytes += text.substr(0, layout.name_size);
    bytes.append(layout.name_size - std::min<std::size_t>(text.size(), layout.name_size), '\0');
  };
  const std::uint32_t id_offset = k_header + layout.gap;
  const std::uint32_t description_offset = id_offset + layout.name_size + layout.gap;
  const auto count = static_cast<std::uint32_t>(entries.size());
  const std::uint32_t data_offset = description_offset + count * (16 + layout.name_size) + layout.gap;
  std::string bytes;
  for (const std::uint32_t field : {0U, layout.name_size, count, id_offset, description_offset, data_offset})
    put(bytes, field);
  const std::string gap(layout.gap, '\xee');
  bytes += gap;
  put_text(bytes, id);
  bytes += gap;
  std::uint32_t offset = 0;
  for (const TableEntry& entry : entries) {
    put(bytes, entry.flags);
    put(bytes, entry.exponent);
    put(bytes, static_cast<std::uint16_t>(entry.values.size()));
    put(bytes, offset);
    put(bytes, std::uint32_t{0});
    put_text(bytes, entry.name);
    offset += static_cast<std::uint32_t>(8 * entry.values.size());
  }
  bytes += gap;
  for (const TableEntry& entry : entries) {
    for (const std::uint64_t value : entry.values) put(bytes, value);
  }
  return bytes;
}

}  // namespace cozy::test
