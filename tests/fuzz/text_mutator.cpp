#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <utility>

#include "probes/text.hpp"

// How libFuzzer changes texts, beside its own ways: by words and lines, since what all readers here take is lines
// of words. Single bytes seldom get past the first of them.

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace {

using namespace std::string_view_literals;

constexpr std::array k_words{"18446744073709551615"sv,
                             "18446744073709551616"sv,
                             "9223372036854775808"sv,
                             "-9223372036854775808"sv,
                             "-1"sv,
                             "0"sv,
                             "1"sv,
                             "nan"sv,
                             "inf"sv,
                             ""sv,
                             " "sv,
                             "\t"sv,
                             "["sv,
                             "]"sv,
                             "("sv,
                             ")"sv,
                             "\\x41"sv,
                             "\\"sv,
                             "\0"sv,
                             "\x1b[31m"sv,
                             "\xff\xfe"sv,
                             "\xc2\x85"sv,
                             "\xe2\x80\xa8"sv,
                             "\xe2\x80\xae"sv,
                             "\xcc\x81"sv,
                             "\xf0\x9f\x98\x80"sv,
                             "::error::x"sv,
                             "  ::error::x"sv,
                             "##[group]"sv,
                             "<script>"sv,
                             "|"sv,
                             "`"sv,
                             "[note: \x1b[0m]"sv,
                             "[stalled \x1b: x]"sv,
                             "[not read \xe2\x80\xa8: x]"sv,
                             "[walk cut: \x1b]"sv};

class TextMutator {
 public:
  TextMutator(std::string_view text, unsigned seed) : text_(text), random_(seed) {}

  std::string run() {
    for (std::size_t times = below(8) + 1; times > 0 && !text_.empty(); --times) {
      switch (below(8)) {
        case 0:
          text_.insert(line_begin(), std::string(line()));
          break;
        case 1:
          erase_line();
          break;
        case 2:
          text_.insert(line_begin(), std::string(k_words[below(k_words.size())]) + "\n");
          break;
        case 3:
          text_.insert(below(text_.size()), k_words[below(k_words.size())]);
          break;
        case 4:
          replace_word(std::string(word_at(below(text_.size()))));
          break;
        case 5:
          replace_word(std::string(k_words[below(k_words.size())]));
          break;
        default:
          change_number();
      }
    }
    return std::move(text_);
  }

 private:
  std::size_t below(std::size_t count) { return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_); }

  static bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t'; }

  std::size_t line_begin() { return text_.rfind('\n', below(text_.size())) + 1; }  // npos + 1 is 0

  std::string_view line() {
    const std::size_t begin = line_begin();
    return std::string_view(text_).substr(begin, text_.find('\n', begin) - begin + 1);
  }

  void erase_line() {
    const std::string_view whole = line();
    text_.erase(static_cast<std::size_t>(whole.data() - text_.data()), whole.size());
  }

  std::string_view word_at(std::size_t at) {
    std::size_t begin = at;
    std::size_t end = at;
    while (begin > 0 && !is_blank(text_[begin - 1])) --begin;
    while (end < text_.size() && !is_blank(text_[end])) ++end;
    return std::string_view(text_).substr(begin, end - begin);
  }

  void replace_word(const std::string& other) {
    const std::string_view word = word_at(below(text_.size()));
    text_.replace(static_cast<std::size_t>(word.data() - text_.data()), word.size(), other);
  }

  /// Of the next digits behind some place.
  void change_number() {
    constexpr std::string_view k_digits = "0123456789";
    const std::size_t begin = text_.find_first_of(k_digits, below(text_.size()));
    if (begin == std::string::npos) return;
    const std::size_t end = std::min(text_.find_first_not_of(k_digits, begin), text_.size());
    const std::uint64_t number = cozy::parse_u64(std::string_view(text_).substr(begin, end - begin)).value_or(0);
    const std::array<std::uint64_t, 8> others{number + 1, number - 1,    number * 2, number / 2,
                                              ~number,    number * 1000, number % 2, number << 32U};
    text_.replace(begin, end - begin, std::to_string(others[below(others.size())]));
  }

  std::string text_;
  std::minstd_rand random_;
};

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  if (seed % 4 == 0 || size == 0) return LLVMFuzzerMutate(data, size, max_size);
  const std::string text = TextMutator({reinterpret_cast<const char*>(data), size}, seed).run();
  const std::size_t taken = std::min(text.size(), max_size);
  std::copy_n(text.data(), taken, reinterpret_cast<char*>(data));
  return taken;
}
