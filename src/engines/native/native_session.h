// Batches of whole windows: cut into pieces that fit the second cache, shared among threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

#include "base/result.h"
#include "engines/engine.h"
#include "engines/reference/reference_session.h"

namespace tocsin {

// Each thread has plans and working memory of its own and all share the weights; a row has the same
// bits in any piece, so neither the cut nor the threads can be seen in the outputs. The calling
// thread works too; the others sleep between runs.
class NativeSession : public Session {
 public:
  // A graph whose rows meet (batch_rows.h), and a batch of one row, run whole on the calling
  // thread.
  static Result<std::unique_ptr<Session>> load(Graph graph, const SessionOptions& options);
  ~NativeSession() override;

  const ModelSignature& signature() const noexcept override { return pieces_[0]->signature(); }
  bool run(std::span<const TensorView> inputs,
           std::span<const TensorView> outputs) noexcept override;
  const Error& error() const noexcept override { return *error_; }
  std::size_t weight_bytes() const noexcept override { return pieces_[0]->weight_bytes(); }

 private:
  // One thread's session, and the views of the piece that it works on.
  struct Worker {
    std::vector<std::vector<std::int64_t>> shapes;  // inputs, then outputs
    std::vector<TensorView> inputs, outputs;
  };

  NativeSession(std::vector<std::unique_ptr<ReferenceSession>> pieces,
                const SessionOptions& options, std::int64_t piece_rows_max);

  Status check(std::span<const TensorView> inputs, std::span<const TensorView> outputs) const;
  bool is_batch(const TensorSpec& spec) const noexcept { return spec.shape[0] == kFreeDimension; }
  void view_piece(std::span<const TensorView> whole, std::span<const TensorSpec> specs,
                  std::size_t piece, Worker& worker, std::vector<TensorView>& views) const;
  void work(std::size_t worker) noexcept;
  void follow_runs(std::size_t worker) noexcept;

  std::vector<std::unique_ptr<ReferenceSession>> pieces_;  // one a thread
  std::vector<Worker> workers_;
  std::int64_t batch_max_;
  std::int64_t piece_rows_max_;
  std::vector<std::thread> threads_;
  Error refusal_{ErrorCode::kOk, ""};
  const Error* error_ = &refusal_;

  // Of the run in progress; written before `run_number_` rises.
  std::span<const TensorView> inputs_, outputs_;
  std::int64_t batch_ = 0;
  std::size_t piece_count_ = 0;
  std::atomic<std::size_t> next_piece_{0};
  std::atomic<std::size_t> working_{0};  // threads that have not finished it
  std::atomic<int> failed_worker_{-1};
  std::atomic<std::uint64_t> run_number_{0};
  std::atomic<bool> is_stopping_{false};
};

}  // namespace tocsin
