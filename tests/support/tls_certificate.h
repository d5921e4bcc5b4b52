// A certificate of its own making, signed by its own key, for servers of tests.
#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <memory>
#include <string>

namespace tocsin {

struct TlsCertificate {
  std::string certificate_pem;
  std::string key_pem;
};

struct TlsCertificateOptions {
  std::string place = "IP:127.0.0.1";  // whose it is: "IP:…" or "DNS:…"
  long valid_until_s = 3'600;          // from now; negative: it has run out
};

// An empty certificate if OpenSSL fails.
inline TlsCertificate make_tls_certificate(const TlsCertificateOptions& options) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -7'200);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), options.valid_until_s);
  X509_set_pubkey(certificate.get(), key.get());
  X509_NAME* name = X509_get_subject_name(certificate.get());
  const auto* text = reinterpret_cast<const unsigned char*>("tocsin test");
  X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC, text, -1, -1, 0);
  X509_set_issuer_name(certificate.get(), name);
  const std::unique_ptr<X509_EXTENSION, decltype(&X509_EXTENSION_free)> place(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, options.place.c_str()),
      X509_EXTENSION_free);
  X509_add_ext(certificate.get(), place.get(), -1);
  if (X509_sign(certificate.get(), key.get(), EVP_sha256()) == 0) return {};

  const auto pem_of = [](auto write) {
    const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
    write(memory.get());
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(memory.get(), &bytes);
    return std::string(bytes, static_cast<std::size_t>(size));
  };
  return {pem_of([&](BIO* out) { PEM_write_bio_X509(out, certificate.get()); }),
          pem_of([&](BIO* out) {
            PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

}  // namespace tocsin
