#pragma once

#include <string>
#include <utility>
#include <variant>

namespace cozy {

/// Why something could not be had: the thing, the kernel's error number where there is one, and
/// the reason in words. One Error is enough for one line of a log.
struct Error {
  std::string subject;  ///< path, option or process that failed
  std::string reason;   ///< what happened, in words
  int code = 0;         ///< errno, or 0 where the kernel did not speak

  [[nodiscard]] std::string text() const { return subject.empty() ? reason : subject + ": " + reason; }
};

/// A value or an Error; made to be replaced by std::expected. Read value() only after ok().
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : content_(std::move(value)) {}
  Result(Error error) : content_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return content_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() { return std::get<0>(content_); }
  const T& value() const { return std::get<0>(content_); }
  const Error& error() const { return std::get<1>(content_); }

  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

 private:
  std::variant<T, Error> content_;
};

/// What a function returns that has nothing to say but that it worked.
struct Done {};

}  // namespace cozy
