// Boost.Beast on one io_context. Each connection is a session of its own, kept alive by the
// operations that are under way; one that was dropped finishes them and tells nobody.
#include "ingest/websocket_connection.h"

#include <algorithm>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <boost/beast/websocket.hpp>
#include <boost/beast/websocket/ssl.hpp>
#include <charconv>
#include <deque>

namespace tocsin {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Tcp = asio::ip::tcp;
using PlainStream = beast::tcp_stream;
using TlsStream = beast::ssl_stream<beast::tcp_stream>;

constexpr std::chrono::seconds kStepTimeout{10};  // of connecting, and of fetching a page

struct Url {
  bool is_tls = false;
  std::string host;
  std::string port;
  std::string target;
};

// scheme://host[:port][/target]; `plain` and `tls` are the schemes taken.
Result<Url> parse_url(const std::string& text, std::string_view plain, std::string_view tls) {
  const auto refuse = [&] {
    return Error(ErrorCode::kInvalidArgument, "\"" + text + "\": expected " + std::string(plain) +
                                                  "://HOST[:PORT]/… or " + std::string(tls) +
                                                  "://…, the port from 1 to 65535");
  };
  const std::size_t mark = text.find("://");
  if (mark == std::string::npos) return refuse();
  Url url;
  const std::string_view scheme = std::string_view(text).substr(0, mark);
  url.is_tls = scheme == tls;
  if (!url.is_tls && scheme != plain) return refuse();
  std::string_view rest = std::string_view(text).substr(mark + 3);
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  url.target = slash == rest.size() ? "/" : std::string(rest.substr(slash));
  const std::string_view place = rest.substr(0, slash);
  const std::size_t colon = std::min(place.rfind(':'), place.size());
  url.host = place.substr(0, colon);
  url.port = colon == place.size() ? (url.is_tls ? "443" : "80") : place.substr(colon + 1);
  std::uint16_t port = 0;
  const char* end = url.port.data() + url.port.size();
  const auto [after, error] = std::from_chars(url.port.data(), end, port);
  const bool has_port = error == std::errc() && after == end && port != 0;
  const bool is_clean = text.find_first_of(" \t\r\n") == std::string::npos;
  if (url.host.empty() || !has_port || !is_clean) return refuse();
  return url;
}

// Where sessions tell what happened to them.
class Listener {
 public:
  virtual ~Listener() = default;
  virtual void on_opened() = 0;
  virtual void on_message(std::string_view text) = 0;
  virtual void on_closed(const std::string& reason) = 0;
  virtual void on_fetched(std::uint64_t tag, bool done, std::string text) = 0;
};

template <typename Stream>
Stream make_stream(asio::io_context& context, asio::ssl::context& tls) {
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    return TlsStream(context, tls);
  } else {
    return PlainStream(context);
  }
}

// Resolve, connect and, over TLS, shake hands with a server whose name the certificate must bear.
template <typename Stream>
asio::awaitable<void> connect(Stream& stream, const Url& url) {
  Tcp::resolver resolver(co_await asio::this_coro::executor);
  const auto places = co_await resolver.async_resolve(url.host, url.port, asio::use_awaitable);
  auto& lowest = beast::get_lowest_layer(stream);
  lowest.expires_after(kStepTimeout);
  co_await lowest.async_connect(places, asio::use_awaitable);
  lowest.socket().set_option(Tcp::no_delay(true));
  if constexpr (std::is_same_v<Stream, TlsStream>) {
    SSL_set_tlsext_host_name(stream.native_handle(), url.host.c_str());
    stream.set_verify_callback(asio::ssl::host_name_verification(url.host));
    co_await stream.async_handshake(asio::ssl::stream_base::client, asio::use_awaitable);
  }
}

class Session {
 public:
  virtual ~Session() = default;
  virtual void start() = 0;
  virtual void read() = 0;
  virtual void drop() = 0;
};

template <typename Stream>
class WebSocketSession final : public Session,
                               public std::enable_shared_from_this<WebSocketSession<Stream>> {
 public:
  WebSocketSession(asio::io_context& context, asio::ssl::context& tls, Listener& listener,
                   const WebSocketConnectionOptions& options, Url url)
      : context_(context),
        listener_(&listener),
        options_(options),
        url_(std::move(url)),
        socket_(make_stream<Stream>(context, tls)) {}

  void start() override { asio::co_spawn(context_, run(this->shared_from_this()), asio::detached); }

  void read() override {
    buffer_.consume(buffer_.size());
    socket_.async_read(
        buffer_, [self = this->shared_from_this()](beast::error_code error, std::size_t) {
          if (self->listener_ == nullptr) return;
          if (error) return self->close(self->reason_of(error));
          self->listener_->on_message(
              {static_cast<const char*>(self->buffer_.data().data()), self->buffer_.size()});
        });
  }

  void drop() override {
    listener_ = nullptr;
    beast::error_code ignored;
    beast::get_lowest_layer(socket_).socket().close(ignored);
  }

 private:
  asio::awaitable<void> run([[maybe_unused]] std::shared_ptr<WebSocketSession> self) {
    try {
      co_await connect(socket_.next_layer(), url_);
      // From here on the WebSocket's own time-outs hold.
      beast::get_lowest_layer(socket_).expires_never();
      socket_.set_option({.handshake_timeout = kStepTimeout,
                          .idle_timeout = std::chrono::milliseconds(options_.idle_ms),
                          .keep_alive_pings = true});
      socket_.read_message_max(WebSocketConnection::kMessageBytesMax);
      // Named, since g++ 12 destroys twice what a conditional makes within co_await.
      std::string host = url_.host;
      if (url_.port != (url_.is_tls ? "443" : "80")) host += ":" + url_.port;
      co_await socket_.async_handshake(host, url_.target, asio::use_awaitable);
      for (const std::string& message : options_.subscribe)
        co_await socket_.async_write(asio::buffer(message), asio::use_awaitable);
    } catch (const boost::system::system_error& error) {
      if (listener_ != nullptr) close(reason_of(error.code()));
      co_return;
    }
    if (listener_ == nullptr) co_return;
    listener_->on_opened();
    read();
  }

  std::string reason_of(const beast::error_code& error) const {
    if (error != beast::websocket::error::closed) return error.message();
    const beast::websocket::close_reason& reason = socket_.reason();
    std::string text = "the server closed the connection, code " + std::to_string(reason.code);
    if (!reason.reason.empty()) {
      text += ": ";
      text += std::string_view(reason.reason.data(), reason.reason.size());
    }
    return text;
  }

  void close(const std::string& reason) {
    Listener& told = *listener_;
    drop();
    told.on_closed(reason);
  }

  asio::io_context& context_;
  Listener* listener_;  // null: dropped
  WebSocketConnectionOptions options_;
  Url url_;
  beast::websocket::stream<Stream> socket_;
  beast::flat_buffer buffer_;
};

template <typename Stream>
asio::awaitable<std::string> fetch_page(asio::io_context& context, asio::ssl::context& tls,
                                        const Url& url) {
  namespace http = beast::http;
  Stream stream = make_stream<Stream>(context, tls);
  co_await connect(stream, url);
  http::request<http::empty_body> request(http::verb::get, url.target, 11);
  request.set(http::field::host, url.host);
  request.set(http::field::user_agent, "tocsin");
  request.set(http::field::accept, "application/json");
  co_await http::async_write(stream, request, asio::use_awaitable);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> parser;
  parser.body_limit(WebSocketConnection::kMessageBytesMax);
  co_await http::async_read(stream, buffer, parser, asio::use_awaitable);
  if (parser.get().result() != http::status::ok)
    throw std::runtime_error("the server answered " + std::to_string(parser.get().result_int()));
  co_return std::move(parser.get().body());
}

class BeastConnection final : public WebSocketConnection, private Listener {
 public:
  BeastConnection(const WebSocketConnectionOptions& options, Url url)
      : options_(options), url_(std::move(url)), tls_(asio::ssl::context::tls_client) {
    tls_.set_verify_mode(asio::ssl::verify_peer);
  }
  ~BeastConnection() override { drop(); }

  Status load_certificates() {
    beast::error_code error;
    if (options_.certificates.empty()) {
      tls_.set_default_verify_paths(error);
    } else {
      tls_.load_verify_file(options_.certificates, error);
    }
    if (!error) return {};
    return Error(ErrorCode::kUnavailable,
                 "certificates " + options_.certificates + ": " + error.message());
  }

  void open() override {
    drop();
    Listener& listener = *this;
    if (url_.is_tls) {
      session_ =
          std::make_shared<WebSocketSession<TlsStream>>(context_, tls_, listener, options_, url_);
    } else {
      session_ =
          std::make_shared<WebSocketSession<PlainStream>>(context_, tls_, listener, options_, url_);
    }
    session_->start();
  }

  void close() override { drop(); }

  void fetch(const std::string& text, std::uint64_t tag) override {
    auto url = parse_url(text, "http", "https");
    if (!url.ok()) return on_fetched(tag, false, url.error().message());
    asio::co_spawn(context_, fetch_into(*std::move(url), tag), asio::detached);
  }

  Event poll(std::chrono::nanoseconds wait) override {
    if (context_.stopped()) context_.restart();
    context_.poll();
    if (happened_.empty() && wait.count() > 0) {
      if (context_.stopped()) context_.restart();
      context_.run_one_for(wait);
      context_.poll();
    }
    if (happened_.empty()) return Event::kNothing;
    current_ = std::move(happened_.front());
    happened_.pop_front();
    return current_.event;
  }

  std::string_view text() const noexcept override {
    return current_.event == Event::kMessage ? message_ : std::string_view(current_.text);
  }
  std::uint64_t tag() const noexcept override { return current_.tag; }
  void release() override {
    message_ = {};
    if (session_ != nullptr) session_->read();
  }

 private:
  struct Happened {
    Event event = Event::kNothing;
    std::uint64_t tag = 0;
    std::string text;
  };

  asio::awaitable<void> fetch_into(Url url, std::uint64_t tag) {
    std::string text;
    bool done = false;
    try {
      if (url.is_tls) {
        text = co_await fetch_page<TlsStream>(context_, tls_, url);
      } else {
        text = co_await fetch_page<PlainStream>(context_, tls_, url);
      }
      done = true;
    } catch (const std::exception& error) {
      text = error.what();
    }
    on_fetched(tag, done, std::move(text));
  }

  void drop() {
    if (session_ != nullptr) session_->drop();
    session_.reset();
    message_ = {};
    std::erase_if(happened_, [](const Happened& one) {
      return one.event != Event::kFetched && one.event != Event::kFetchFailed;
    });
  }

  void on_opened() override { happened_.push_back({Event::kOpened, 0, {}}); }
  void on_message(std::string_view text) override {
    message_ = text;
    happened_.push_back({Event::kMessage, 0, {}});
  }
  void on_closed(const std::string& reason) override {
    happened_.push_back({Event::kClosed, 0, reason});
  }
  void on_fetched(std::uint64_t tag, bool done, std::string text) override {
    happened_.push_back({done ? Event::kFetched : Event::kFetchFailed, tag, std::move(text)});
  }

  WebSocketConnectionOptions options_;
  Url url_;
  asio::ssl::context tls_;
  std::deque<Happened> happened_;
  Happened current_;
  std::string_view message_;  // in the session's buffer
  std::shared_ptr<Session> session_;
  asio::io_context context_{1};  // last: it goes first, with all that is under way
};

}  // namespace

Status check_websocket_url(const std::string& url) {
  const auto parsed = parse_url(url, "ws", "wss");
  return parsed.ok() ? Status() : parsed.error();
}

Result<std::unique_ptr<WebSocketConnection>> WebSocketConnection::create(
    const WebSocketConnectionOptions& options) {
  TOCSIN_ASSIGN_OR_RETURN(Url url, parse_url(options.url, "ws", "wss"));
  auto connection = std::make_unique<BeastConnection>(options, std::move(url));
  TOCSIN_RETURN_IF_ERROR(connection->load_certificates());
  return std::unique_ptr<WebSocketConnection>(std::move(connection));
}

}  // namespace tocsin
