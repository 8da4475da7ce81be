#include "collector/policy/quantity.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>

#include "probes/text.hpp"

namespace cozy {

namespace {

constexpr std::string_view k_digits = "0123456789";
constexpr std::string_view k_signed_digits = "+-0123456789";
constexpr std::string_view k_blanks = " \t\r\n\v\f";
constexpr std::uint64_t k_most_milli = std::numeric_limits<std::int64_t>::max();  // as Kubernetes counts them
constexpr std::int64_t k_most_places = 20;  // a number with more digits than that is above k_most_milli
constexpr std::int64_t k_milli_places = 3;

/// What a number is multiplied by: 10^tens * 1024^kibis.
struct Scale {
  std::int64_t tens = 0;
  unsigned kibis = 0;
};

struct Suffix {
  std::string_view name;
  Scale scale;
};

constexpr std::array k_suffixes{Suffix{"n", {-9, 0}}, Suffix{"u", {-6, 0}}, Suffix{"m", {-3, 0}}, Suffix{"", {0, 0}},
                                Suffix{"k", {3, 0}},  Suffix{"M", {6, 0}},  Suffix{"G", {9, 0}},  Suffix{"T", {12, 0}},
                                Suffix{"P", {15, 0}}, Suffix{"E", {18, 0}}, Suffix{"Ki", {0, 1}}, Suffix{"Mi", {0, 2}},
                                Suffix{"Gi", {0, 3}}, Suffix{"Ti", {0, 4}}, Suffix{"Pi", {0, 5}}, Suffix{"Ei", {0, 6}}};

Error wrong(std::string_view text, const std::string& reason) { return Error{"\"" + escape(text) + "\"", reason, 0}; }

std::string_view take_digits(std::string_view& text) {
  const std::string_view digits = text.substr(0, text.find_first_not_of(k_digits));
  text.remove_prefix(digits.size());
  return digits;
}

/// The number that stands behind "e": none where it is no whole number. One that is beyond all use is cut.
std::optional<std::int64_t> parse_exponent(std::string_view text) {
  constexpr std::int64_t k_far = 1'000'000'000;
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  if (text.empty() || text.find_first_not_of(k_digits) != std::string_view::npos) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of('0'), text.size()));
  const std::int64_t size = text.size() > 9 ? k_far : parse_i64(text.empty() ? "0" : text).value_or(k_far);
  return negative ? -size : size;
}

/// Why what begins with "e" is no exponent.
std::string exponent_refusal(std::string_view suffix) {
  std::string_view rest = suffix.substr(1);
  if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
  if (take_digits(rest).empty()) return "has an exponent without digits";
  if (rest.starts_with('.')) return "has an exponent that is no whole number";
  return "has an exponent and \"" + escape(rest) + "\" behind it: it may have one of them";
}

/// Why what stands behind the number is none of the suffixes.
std::string suffix_refusal(std::string_view suffix) {
  if (suffix.find_first_of(k_blanks) != std::string_view::npos) return "holds a blank";
  if (suffix.starts_with('.')) return "has more than one decimal point";
  if (suffix == "K") return "has the suffix \"K\", and 1000 is \"k\"";
  const bool exponent = suffix.size() > 1 && k_signed_digits.find(suffix[1]) != std::string_view::npos;
  if (suffix == "e" || ((suffix.front() == 'e' || suffix.front() == 'E') && exponent)) return exponent_refusal(suffix);
  return "has the suffix \"" + escape(suffix) +
         "\", which is none of n u m k M G T P E Ki Mi Gi Ti Pi Ei and no exponent";
}

std::optional<Scale> parse_suffix(std::string_view suffix) {
  for (const Suffix& known : k_suffixes) {
    if (suffix == known.name) return known.scale;
  }
  const bool exponent = suffix.front() == 'e' || suffix.front() == 'E';
  const auto tens = exponent ? parse_exponent(suffix.substr(1)) : std::nullopt;
  return tens ? std::optional(Scale{*tens, 0}) : std::nullopt;
}

/// Decimal digits times 1024.
void multiply_by_kibi(std::string& digits) {
  unsigned carry = 0;
  for (auto digit = digits.rbegin(); digit != digits.rend(); ++digit) {
    const unsigned product = static_cast<unsigned>(*digit - '0') * 1024 + carry;
    *digit = static_cast<char>('0' + product % 10);
    carry = product / 10;
  }
  if (carry > 0) digits.insert(0, std::to_string(carry));
}

/// Decimal digits, without leading zeros, times 10^tens, rounded up; none where it is above k_most_milli.
std::optional<std::uint64_t> scaled_up(std::string digits, std::int64_t tens) {
  if (digits.empty()) return 0;
  const auto size = static_cast<std::int64_t>(digits.size());
  if (size + tens > k_most_places) return std::nullopt;
  if (tens >= 0) digits.append(static_cast<std::size_t>(tens), '0');
  const std::int64_t whole_size = std::max<std::int64_t>(size + tens, 0);
  const std::string_view whole = std::string_view(digits).substr(0, static_cast<std::size_t>(whole_size));
  const std::string_view rest = std::string_view(digits).substr(whole.size());
  const auto number = parse_u64(whole.empty() ? "0" : whole);
  const bool more = rest.find_first_not_of('0') != std::string_view::npos;
  if (!number || *number > k_most_milli - (more ? 1 : 0)) return std::nullopt;
  return *number + (more ? 1 : 0);
}

}  // namespace

Result<std::uint64_t> parse_cpu_quantity(std::string_view text) {
  if (text.empty()) return wrong(text, "is empty");
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::string digits(take_digits(rest));
  std::string_view fraction;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    fraction = take_digits(rest);
  }
  if (digits.empty() && fraction.empty())
    return wrong(text, rest.find_first_of(k_blanks) == 0 ? "begins with a blank" : "begins with no number");
  const auto scale = parse_suffix(rest);
  if (!scale) return wrong(text, suffix_refusal(rest));
  digits += fraction;
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  if (negative && !digits.empty()) return wrong(text, "is negative");
  for (unsigned i = 0; i < scale->kibis && !digits.empty(); ++i) multiply_by_kibi(digits);
  const auto milli =
      scaled_up(std::move(digits), scale->tens + k_milli_places - static_cast<std::int64_t>(fraction.size()));
  if (!milli) return wrong(text, "is too large: it is more than " + std::to_string(k_most_milli) + " milli-CPU");
  return *milli;
}

std::string cpu_quantity_text(std::uint64_t milli) {
  return milli % 1000 == 0 ? std::to_string(milli / 1000) : std::to_string(milli) + "m";
}

}  // namespace cozy
