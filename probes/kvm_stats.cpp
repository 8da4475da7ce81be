#include "kvm_stats.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "text.hpp"

namespace cozy {

namespace {

static_assert(std::endian::native == std::endian::little || std::endian::native == std::endian::big);

constexpr std::size_t k_header_bytes = 24;       // six u32
constexpr std::size_t k_description_bytes = 16;  // before the name: u32, s16, u16, u32, u32
constexpr std::uint32_t k_most_statistics = 4096;
constexpr std::uint32_t k_longest_name = 1024;
constexpr std::uint64_t k_most_buckets = 1024;

struct Header {
  std::uint32_t flags;
  std::uint32_t name_size;
  std::uint32_t count;
  std::uint32_t id_offset;
  std::uint32_t description_offset;
  std::uint32_t data_offset;
};

/// The kernel writes in this machine's byte order.
template <class Number>
Number number_at(std::string_view bytes, std::uint64_t offset) {
  Number number;
  std::memcpy(&number, bytes.data() + offset, sizeof number);
  return number;
}

bool fits(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  return offset <= bytes.size() && size <= bytes.size() - offset;
}

/// Up to the first NUL, or all of it.
std::string_view text_in(std::string_view field) { return field.substr(0, field.find('\0')); }

bool is_name(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

template <std::size_t Size>
std::string word_of(const std::array<std::string_view, Size>& words, std::uint32_t number, std::string_view otherwise) {
  return number < Size ? std::string(words[number]) : std::string(otherwise) + std::to_string(number);
}

constexpr std::array<std::string_view, 5> k_types{"cumulative", "instant", "peak", "linear-histogram", "log-histogram"};
constexpr std::array<std::string_view, 5> k_units{"none", "bytes", "seconds", "cycles", "boolean"};
constexpr std::array<std::string_view, 2> k_bases{"10", "2"};

Kind kind_of_type(std::uint32_t type) {
  switch (type) {
    case 0:
      return Kind::cumulative;
    case 1:
      return Kind::instant;
    case 2:
      return Kind::peak;
    default:
      return Kind::histogram;  // of an unknown type nothing is known: it is never subtracted either
  }
}

/// "kvm-22061/vcpu-0"
bool parse_vcpu_id(KvmStatistics& statistics) {
  const std::string_view id = statistics.id;
  const std::size_t slash = id.find("/vcpu-");
  if (!id.starts_with("kvm-") || slash == std::string_view::npos) return false;
  const auto tid = parse_u64(id.substr(4, slash - 4));
  const auto vcpu = parse_u64(id.substr(slash + 6));
  if (!tid || !vcpu) return false;
  statistics.tid = *tid;
  statistics.vcpu = *vcpu;
  return true;
}

void parse_description(std::string_view bytes, const Header& header, std::uint64_t at, KvmStatistics& statistics) {
  const auto flags = number_at<std::uint32_t>(bytes, at);
  const auto size = number_at<std::uint16_t>(bytes, at + 6);
  const std::string name(text_in(bytes.substr(at + k_description_bytes, header.name_size)));
  const auto leave_out = [&](const std::string& reason) {
    statistics.left_out.push_back((is_name(name) ? name : "a statistic") + ": " + reason);
  };
  if (!is_name(name)) return leave_out("\"" + escape(name.substr(0, 64)) + "\" is no name");
  const std::uint64_t data = std::uint64_t{header.data_offset} + number_at<std::uint32_t>(bytes, at + 8);
  if (size == 0 || size > k_most_buckets) return leave_out("it says that it has " + std::to_string(size) + " values");
  if (!fits(bytes, data, std::uint64_t{size} * 8)) return leave_out("its value lies outside the bytes that came");
  const std::uint32_t type = flags & 0xfU;
  if (type < 3 && size != 1) return leave_out("one value was expected and it has " + std::to_string(size));

  KvmStatistic statistic;
  statistic.name = name;
  statistic.kind = kind_of_type(type);
  statistic.type = word_of(k_types, type, "type-");
  statistic.unit = word_of(k_units, (flags >> 4U) & 0xfU, "unit-");
  statistic.base = word_of(k_bases, (flags >> 8U) & 0xfU, "base-");
  statistic.exponent = number_at<std::int16_t>(bytes, at + 4);
  statistic.bucket_size = number_at<std::uint32_t>(bytes, at + 12);
  for (std::uint64_t i = 0; i < size; ++i) statistic.values.push_back(number_at<std::uint64_t>(bytes, data + 8 * i));
  statistics.statistics.push_back(std::move(statistic));
}

Error refuse(std::string reason) { return Error{"KVM statistics", std::move(reason), 0}; }

}  // namespace

Result<KvmStatistics> parse_kvm_table(std::string_view bytes) {
  if (bytes.size() < k_header_bytes)
    return refuse("they are " + std::to_string(bytes.size()) + " bytes, less than their header");
  const Header header{number_at<std::uint32_t>(bytes, 0),  number_at<std::uint32_t>(bytes, 4),
                      number_at<std::uint32_t>(bytes, 8),  number_at<std::uint32_t>(bytes, 12),
                      number_at<std::uint32_t>(bytes, 16), number_at<std::uint32_t>(bytes, 20)};
  if (header.name_size == 0 || header.name_size > k_longest_name) {
    return refuse("names of " + std::to_string(header.name_size) + " bytes are not to be believed");
  }
  if (header.count > k_most_statistics) {
    return refuse(std::to_string(header.count) + " statistics are not to be believed");
  }
  const std::uint64_t stride = k_description_bytes + std::uint64_t{header.name_size};
  if (!fits(bytes, header.id_offset, header.name_size)) return refuse("their id lies outside the bytes that came");
  if (!fits(bytes, header.description_offset, stride * header.count)) {
    return refuse("their descriptions lie outside the bytes that came");
  }
  KvmStatistics statistics;
  statistics.id = text_in(bytes.substr(header.id_offset, header.name_size));
  for (std::uint64_t i = 0; i < header.count; ++i) {
    parse_description(bytes, header, header.description_offset + stride * i, statistics);
  }
  return statistics;
}

Result<KvmStatistics> parse_kvm_statistics(std::string_view bytes) {
  auto statistics = parse_kvm_table(bytes);
  if (!statistics || parse_vcpu_id(*statistics)) return statistics;
  return refuse("their id \"" + escape(std::string_view(statistics->id).substr(0, 64)) + "\" is no vCPU's");
}

}  // namespace cozy
