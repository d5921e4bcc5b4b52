// Sums over the last kLength rows of kColumns integers. O(1) a row, exact.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace tocsin {

template <std::size_t kColumns, std::size_t kLength>
class LastValues {
 public:
  using Row = std::array<std::int64_t, kColumns>;

  void push(const Row& row) noexcept {
    Row& place = rows_[next_];
    if (count_ == kLength) {
      for (std::size_t i = 0; i < kColumns; ++i) sums_[i] -= place[i];
    } else {
      ++count_;
    }
    for (std::size_t i = 0; i < kColumns; ++i) sums_[i] += row[i];
    place = row;
    next_ = next_ + 1 == kLength ? 0 : next_ + 1;
  }

  std::int64_t sum(std::size_t column) const noexcept { return sums_[column]; }
  std::uint64_t count() const noexcept { return count_; }

 private:
  std::array<Row, kLength> rows_{};
  Row sums_{};
  std::uint64_t count_ = 0;
  std::size_t next_ = 0;
};

}  // namespace tocsin
