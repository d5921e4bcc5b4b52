// A value or an Error; C++20 has no std::expected.
#pragma once

#include <optional>
#include <utility>
#include <variant>

#include "base/assert.h"
#include "base/error.h"

namespace tocsin {

template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit on purpose: `return value;` and `return Error(...)` both read naturally.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& value() & { return check_ok(), std::get<0>(state_); }
  const T& value() const& { return check_ok(), std::get<0>(state_); }
  T&& value() && { return check_ok(), std::get<0>(std::move(state_)); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  const Error& error() const {
    TOCSIN_ASSERT(!ok());
    return std::get<1>(state_);
  }

 private:
  void check_ok() const { TOCSIN_ASSERT(ok()); }

  std::variant<T, Error> state_;
};

// Success or an Error.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  bool ok() const noexcept { return !error_.has_value(); }
  explicit operator bool() const noexcept { return ok(); }
  const Error& error() const {
    TOCSIN_ASSERT(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace tocsin

#define TOCSIN_CONCAT_INNER(a, b) a##b
#define TOCSIN_CONCAT(a, b) TOCSIN_CONCAT_INNER(a, b)

// Returns the error of `expression` (a Result or Status) to the caller.
#define TOCSIN_RETURN_IF_ERROR(expression)                                   \
  do {                                                                       \
    if (auto tocsin_status = (expression); !tocsin_status.ok()) [[unlikely]] \
      return tocsin_status.error();                                          \
  } while (false)

// TOCSIN_ASSIGN_OR_RETURN(auto x, f()): the value of a Result, or return its error.
#define TOCSIN_ASSIGN_OR_RETURN(declaration, expression)          \
  auto TOCSIN_CONCAT(tocsin_result_, __LINE__) = (expression);    \
  if (!TOCSIN_CONCAT(tocsin_result_, __LINE__).ok()) [[unlikely]] \
    return TOCSIN_CONCAT(tocsin_result_, __LINE__).error();       \
  declaration = std::move(TOCSIN_CONCAT(tocsin_result_, __LINE__)).value()
