// A WebSocket client and a fetcher of web pages on one thread: the caller's, inside poll(). Plain
// and TLS. Nothing is tried again here; nothing reads a clock but for the network's time-outs.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace tocsin {

struct WebSocketConnectionOptions {
  std::string url;                     // ws:// or wss://
  std::vector<std::string> subscribe;  // messages sent as soon as the connection stands
  std::string certificates;            // file of trusted ones (PEM); empty: the system's
  std::int64_t idle_ms = 30'000;       // silence after which the connection is given up; a ping is
                                       // sent halfway
};

// kInvalidArgument, with what was expected, for what is no ws:// or wss:// URL.
Status check_websocket_url(const std::string& url);

class WebSocketConnection {
 public:
  static constexpr std::size_t kMessageBytesMax = std::size_t{16} << 20;

  enum class Event : std::uint8_t {
    kNothing,      // the wait is over
    kOpened,       // the connection stands and has subscribed
    kMessage,      // text() is a message; the next one is read once release() was called
    kClosed,       // text() says why; open() begins anew
    kFetched,      // text() is a page's content, tag() the number it was asked for with
    kFetchFailed,  // text() says why
  };

  // kInvalidArgument: a URL that is none; kUnavailable: certificates that cannot be read.
  static Result<std::unique_ptr<WebSocketConnection>> create(
      const WebSocketConnectionOptions& options);
  virtual ~WebSocketConnection() = default;

  // Begins to connect; what stood before is dropped.
  virtual void open() = 0;
  virtual void close() = 0;
  // Begins to fetch http:// or https:// `url`; several may be on the way.
  virtual void fetch(const std::string& url, std::uint64_t tag) = 0;
  // Works until something has moved, or for `wait` at most; zero: only what is ready.
  virtual Event poll(std::chrono::nanoseconds wait) = 0;
  // Of the last event; valid until the next poll() or release().
  virtual std::string_view text() const noexcept = 0;
  virtual std::uint64_t tag() const noexcept = 0;
  // After kMessage: the message is done with.
  virtual void release() = 0;
};

}  // namespace tocsin
