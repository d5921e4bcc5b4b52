// The cut, and the hand-over between threads by counters that they wait on.
#include "engines/native/native_session.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "engines/native/batch_rows.h"
#include "engines/native/row_operators.h"

namespace tocsin {
namespace {

constexpr std::int64_t kPieceRowsMax = 64;  // each size up to it has a plan
// A recurrent layer reads its weights once a step for all rows of a piece.
constexpr std::int64_t kRecurrentPieceRowsMin = 32;
// Batches that stand for all others when rows are followed.
constexpr std::int64_t kBatch = 7;
constexpr std::int64_t kOtherBatch = 11;

std::size_t second_cache_bytes() {
  const long found = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return found > 0 ? static_cast<std::size_t>(found) : std::size_t{1} << 20U;
}

bool has_recurrence(const Graph& graph) {
  return std::ranges::any_of(graph.nodes, [](const GraphNode& node) {
    return node.op_type == "LSTM" || node.op_type == "GRU" || node.op_type == "RNN";
  });
}

// `one` is a session of one row.
bool rows_are_apart(const ReferenceSession& one) {
  const Result<std::vector<ValueFacts>> facts = one.infer(kBatch);
  const Result<std::vector<ValueFacts>> other = one.infer(kOtherBatch);
  return facts.ok() && other.ok() &&
         rows_are_apart(one.graph(), {kBatch, *facts}, {kOtherBatch, *other});
}

std::int64_t piece_rows_max(const ReferenceSession& one, std::int64_t batch_max) {
  const std::size_t cache = second_cache_bytes();
  const std::size_t left = cache - std::min(cache, one.weight_bytes());
  const std::size_t row = std::max<std::size_t>(one.arena_bytes(), 1);
  const std::int64_t least = has_recurrence(one.graph()) ? kRecurrentPieceRowsMin : 1;
  const auto fitting = static_cast<std::int64_t>(left / (2 * row));
  return std::min({std::max(fitting, least), batch_max, kPieceRowsMax});
}

}  // namespace

Result<std::unique_ptr<Session>> NativeSession::load(Graph graph, const SessionOptions& options) {
  SessionOptions piece = options;
  piece.batch_max = 1;
  TOCSIN_ASSIGN_OR_RETURN(std::unique_ptr<ReferenceSession> one,
                          ReferenceSession::load(std::move(graph), piece));
  if (options.batch_max == 1) return std::unique_ptr<Session>(std::move(one));
  if (options.batch_max < 1 || !rows_are_apart(*one)) {
    TOCSIN_ASSIGN_OR_RETURN(std::unique_ptr<ReferenceSession> whole, one->again(options));
    return std::unique_ptr<Session>(std::move(whole));
  }
  piece.batch_max = piece_rows_max(*one, options.batch_max);
  std::vector<std::unique_ptr<ReferenceSession>> pieces;
  const std::int64_t threads = std::min<std::int64_t>(options.thread_count, options.batch_max);
  for (std::int64_t i = 0; i < threads; ++i) {
    TOCSIN_ASSIGN_OR_RETURN(std::unique_ptr<ReferenceSession> session, one->again(piece));
    pieces.push_back(std::move(session));
  }
  try {
    return std::unique_ptr<Session>(new NativeSession(std::move(pieces), options, piece.batch_max));
  } catch (const std::exception& exception) {
    return Error(ErrorCode::kResourceExhausted,
                 std::string("starting the session's threads: ") + exception.what());
  }
}

NativeSession::NativeSession(std::vector<std::unique_ptr<ReferenceSession>> pieces,
                             const SessionOptions& options, std::int64_t piece_rows_max)
    : pieces_(std::move(pieces)),
      workers_(pieces_.size()),
      batch_max_(options.batch_max),
      piece_rows_max_(piece_rows_max) {
  const ModelSignature& whole = pieces_[0]->signature();
  for (Worker& worker : workers_) {
    worker.inputs.resize(whole.inputs.size());
    worker.outputs.resize(whole.outputs.size());
    for (const TensorSpec& spec : whole.inputs) worker.shapes.push_back(spec.shape);
    for (const TensorSpec& spec : whole.outputs) worker.shapes.push_back(spec.shape);
  }
  for (std::size_t i = 1; i < pieces_.size(); ++i)
    threads_.emplace_back([this, i] { follow_runs(i); });
}

NativeSession::~NativeSession() {
  is_stopping_ = true;
  ++run_number_;
  run_number_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

// What a piece cannot check of itself: how many rows there are, and that all have as many.
Status NativeSession::check(std::span<const TensorView> inputs,
                            std::span<const TensorView> outputs) const {
  if (inputs.size() != signature().inputs.size() || outputs.size() != signature().outputs.size())
    return invalid("the model has " + std::to_string(signature().inputs.size()) + " inputs and " +
                   std::to_string(signature().outputs.size()) + " outputs, given are " +
                   std::to_string(inputs.size()) + " and " + std::to_string(outputs.size()));
  std::int64_t rows = 0;
  const auto check_rows = [this, &rows](const TensorSpec& spec, const TensorView& view) -> Status {
    if (view.shape.size() != spec.shape.size() || view.shape[0] < 1 || view.shape[0] > batch_max_)
      return invalid("'" + spec.name + "' is " + shape_text(view.shape) + ", the model has " +
                     shape_text(spec.shape) + " and the session takes batches of 1 to " +
                     std::to_string(batch_max_));
    if (rows != 0 && view.shape[0] != rows)
      return invalid("'" + spec.name + "' has " + std::to_string(view.shape[0]) +
                     " rows, others have " + std::to_string(rows));
    if (view.size_bytes != *checked_element_count(view.shape) * data_type_size_bytes(view.type))
      return invalid("'" + spec.name + "' of shape " + shape_text(view.shape) + " does not fill " +
                     std::to_string(view.size_bytes) + " bytes");
    rows = view.shape[0];
    return {};
  };
  for (std::size_t i = 0; i < inputs.size(); ++i)
    if (is_batch(signature().inputs[i]))
      TOCSIN_RETURN_IF_ERROR(check_rows(signature().inputs[i], inputs[i]));
  for (std::size_t i = 0; i < outputs.size(); ++i)
    TOCSIN_RETURN_IF_ERROR(check_rows(signature().outputs[i], outputs[i]));
  return {};
}

void NativeSession::view_piece(std::span<const TensorView> whole, std::span<const TensorSpec> specs,
                               std::size_t piece, Worker& worker,
                               std::vector<TensorView>& views) const {
  const std::int64_t begin =
      batch_ * static_cast<std::int64_t>(piece) / static_cast<std::int64_t>(piece_count_);
  const std::int64_t end =
      batch_ * static_cast<std::int64_t>(piece + 1) / static_cast<std::int64_t>(piece_count_);
  const std::size_t first_shape = &views == &worker.inputs ? 0 : worker.inputs.size();
  for (std::size_t i = 0; i < views.size(); ++i) {
    views[i] = whole[i];
    if (!is_batch(specs[i])) continue;
    std::vector<std::int64_t>& shape = worker.shapes[first_shape + i];
    std::copy(whole[i].shape.begin(), whole[i].shape.end(), shape.begin());
    shape[0] = end - begin;
    const std::size_t row_bytes = whole[i].size_bytes / static_cast<std::size_t>(batch_);
    views[i].shape = shape;
    views[i].data =
        static_cast<std::byte*>(whole[i].data) + static_cast<std::size_t>(begin) * row_bytes;
    views[i].size_bytes = static_cast<std::size_t>(end - begin) * row_bytes;
  }
}

void NativeSession::work(std::size_t index) noexcept {
  Worker& worker = workers_[index];
  while (failed_worker_ < 0) {
    const std::size_t piece = next_piece_++;
    if (piece >= piece_count_) return;
    view_piece(inputs_, signature().inputs, piece, worker, worker.inputs);
    view_piece(outputs_, signature().outputs, piece, worker, worker.outputs);
    if (!pieces_[index]->run(worker.inputs, worker.outputs))
      failed_worker_ = static_cast<int>(index);
  }
}

void NativeSession::follow_runs(std::size_t worker) noexcept {
  std::uint64_t seen = 0;
  while (true) {
    run_number_.wait(seen);
    if (is_stopping_) return;
    ++seen;
    work(worker);
    if (--working_ == 0) working_.notify_one();
  }
}

bool NativeSession::run(std::span<const TensorView> inputs,
                        std::span<const TensorView> outputs) noexcept {
  if (const Status status = check(inputs, outputs); !status.ok()) {
    refusal_ = status.error();
    error_ = &refusal_;
    return false;
  }
  inputs_ = inputs;
  outputs_ = outputs;
  batch_ = outputs[0].shape[0];
  const auto fitting = static_cast<std::size_t>((batch_ + piece_rows_max_ - 1) / piece_rows_max_);
  piece_count_ = std::max(fitting, std::min(pieces_.size(), static_cast<std::size_t>(batch_)));
  next_piece_ = 0;
  failed_worker_ = -1;
  if (threads_.empty() || piece_count_ == 1) {
    work(0);
  } else {
    working_ = threads_.size();
    ++run_number_;
    run_number_.notify_all();
    work(0);
    for (std::size_t left = working_; left != 0; left = working_) working_.wait(left);
  }
  if (failed_worker_ < 0) return true;
  error_ = &pieces_[static_cast<std::size_t>(failed_worker_)]->error();
  return false;
}

}  // namespace tocsin
