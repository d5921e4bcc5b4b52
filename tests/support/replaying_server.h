// A venue on a loopback port, for tests of live sources: a WebSocket that sends messages to whoever
// has subscribed, and breaks off where it is told to; pages over HTTP from the same moment. Both
// plain or over TLS.
#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace tocsin {

class ReplayingServer {
 public:
  struct Script {
    // What is sent, one after another, over however many connections.
    std::vector<std::string> messages;
    std::set<std::size_t> breaks;   // the connection is cut in place of these messages
    std::size_t lost_at_break = 0;  // messages that nobody gets, from there on
    // The second message waits for the first page to be sent: what follows meets a client that has
    // it, however slow the machine is.
    bool waits_for_page = false;
    // Called under the server's lock with each message that the venue sends or loses.
    std::function<void(const std::string&)> on_message;
    // Called under the lock for what a new subscriber is sent first.
    std::function<std::vector<std::string>()> greeting;
    // Called under the lock for the content of a page.
    std::function<std::string()> page;
    // Holds the certificate that wss and https answer with; null: ws and http. Outlives the server.
    boost::asio::ssl::context* tls = nullptr;
  };

  explicit ReplayingServer(Script script)
      : script_(std::move(script)),
        acceptor_(context_, {boost::asio::ip::make_address("127.0.0.1"), 0}),
        pages_(context_, {boost::asio::ip::make_address("127.0.0.1"), 0}),
        feed_thread_([this] { serve(acceptor_, [this](auto& stream) { feed(stream); }); }),
        page_thread_([this] { serve(pages_, [this](auto& stream) { answer(stream); }); }) {}
  ~ReplayingServer() {
    stopping_ = true;
    for (const auto& port : {acceptor_.local_endpoint(), pages_.local_endpoint()}) {
      boost::beast::error_code ignored;
      boost::asio::io_context context;
      Socket(context).connect(port, ignored);
    }
  }

  std::string feed_url() const {
    return (script_.tls != nullptr ? "wss" : "ws") + place_of(acceptor_) + "/stream";
  }
  std::string page_url() const {
    return (script_.tls != nullptr ? "https" : "http") + place_of(pages_) + "/depth";
  }
  bool all_sent() const { return position_ >= script_.messages.size(); }
  std::size_t connection_count() const { return connection_count_; }
  std::string last_subscription() const {
    const std::scoped_lock lock(mutex_);
    return last_subscription_;
  }

 private:
  using Socket = boost::asio::ip::tcp::socket;
  using Acceptor = boost::asio::ip::tcp::acceptor;

  static std::string place_of(const Acceptor& acceptor) {
    return "://127.0.0.1:" + std::to_string(acceptor.local_endpoint().port());
  }

  template <typename Handle>
  void serve(Acceptor& acceptor, Handle handle) {
    while (!stopping_) {
      Socket socket(context_);
      boost::beast::error_code error;
      acceptor.accept(socket, error);
      if (error || stopping_) continue;
      try {
        socket.set_option(boost::asio::ip::tcp::no_delay(true));
        if (script_.tls == nullptr) {
          handle(socket);
        } else {
          boost::asio::ssl::stream<Socket&> stream(socket, *script_.tls);
          stream.handshake(boost::asio::ssl::stream_base::server);
          handle(stream);
        }
      } catch (const std::exception&) {
        // The client went away: the next one is waited for.
      }
    }
  }

  template <typename Stream>
  void feed(Stream& connection) {
    boost::beast::websocket::stream<Stream&> stream(connection);
    stream.accept();
    boost::beast::flat_buffer buffer;
    stream.read(buffer);
    ++connection_count_;
    {
      const std::scoped_lock lock(mutex_);
      last_subscription_ = boost::beast::buffers_to_string(buffer.data());
      if (script_.greeting)
        for (const std::string& text : script_.greeting()) stream.write(boost::asio::buffer(text));
    }
    stream.ping({});
    while (!stopping_ && !all_sent()) {
      while (script_.waits_for_page && position_ == 1 && page_count_ == 0 && !stopping_)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (script_.breaks.erase(position_) > 0) {
        const std::scoped_lock lock(mutex_);
        for (std::size_t i = 0; i < script_.lost_at_break && !all_sent(); ++i) take();
        return;  // without a word
      }
      std::string text;
      {
        const std::scoped_lock lock(mutex_);
        text = take();
      }
      stream.write(boost::asio::buffer(text));
    }
    // The venue has fallen silent; the connection stands until the client goes.
    while (!stopping_) {
      if (connection.lowest_layer().available() > 0) {
        buffer.consume(buffer.size());
        stream.read(buffer);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::string take() {
    const std::string& text = script_.messages[position_++];
    if (script_.on_message) script_.on_message(text);
    return text;
  }

  template <typename Stream>
  void answer(Stream& stream) {
    namespace http = boost::beast::http;
    boost::beast::flat_buffer buffer;
    http::request<http::empty_body> request;
    http::read(stream, buffer, request);
    http::response<http::string_body> response(http::status::ok, 11);
    {
      const std::scoped_lock lock(mutex_);
      response.body() = script_.page();
    }
    response.prepare_payload();
    http::write(stream, response);
    ++page_count_;
  }

  Script script_;
  mutable std::mutex mutex_;  // what is sent and what pages say are of one moment
  std::atomic<std::size_t> position_{0};
  std::atomic<std::size_t> connection_count_{0};
  std::atomic<std::size_t> page_count_{0};
  std::atomic<bool> stopping_{false};
  std::string last_subscription_;
  boost::asio::io_context context_;
  Acceptor acceptor_;
  Acceptor pages_;
  std::jthread feed_thread_;
  std::jthread page_thread_;
};

}  // namespace tocsin
