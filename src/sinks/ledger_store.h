// Where a ledger's bytes lie: a folder with 000001.ledger and so on, and HEAD; or memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace tocsin {

class LedgerStore {
 public:
  virtual ~LedgerStore() = default;
  // Indices of the segments that are there, rising.
  virtual Result<std::vector<std::uint32_t>> segments() = 0;
  // A whole segment: at most the writer's segment limit and one record.
  virtual Result<std::vector<std::byte>> segment(std::uint32_t index) = 0;
  // Empty if there is none.
  virtual Result<std::optional<std::string>> head() = 0;
  // Names the ledger in messages.
  virtual const std::string& name() const noexcept = 0;
};

class FolderLedgerStore final : public LedgerStore {
 public:
  explicit FolderLedgerStore(std::string folder) : folder_(std::move(folder)) {}
  Result<std::vector<std::uint32_t>> segments() override;
  Result<std::vector<std::byte>> segment(std::uint32_t index) override;
  Result<std::optional<std::string>> head() override;
  const std::string& name() const noexcept override { return folder_; }

 private:
  std::string folder_;
};

class MemoryLedgerStore final : public LedgerStore {
 public:
  Result<std::vector<std::uint32_t>> segments() override;
  Result<std::vector<std::byte>> segment(std::uint32_t index) override;
  Result<std::optional<std::string>> head() override { return head_text; }
  const std::string& name() const noexcept override { return name_; }

  std::map<std::uint32_t, std::vector<std::byte>> segment_bytes;
  std::optional<std::string> head_text;

 private:
  std::string name_ = "memory";
};

std::string ledger_segment_path(const std::string& folder, std::uint32_t index);
std::string ledger_head_path(const std::string& folder);

}  // namespace tocsin
