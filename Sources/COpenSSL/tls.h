// Macros of OpenSSL's TLS headers that Swift cannot import.
#pragma once
#include <openssl/ssl.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>

static inline void tls_context_set_mode(SSL_CTX *context) {
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                                | SSL_MODE_RELEASE_BUFFERS);
}

static inline void tls_context_set_read_ahead(SSL_CTX *context, size_t bytes) {
  SSL_CTX_set_read_ahead(context, 1);
  SSL_CTX_set_default_read_buffer_len(context, bytes);
}

static inline void tls_context_set_options(SSL_CTX *context) {
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF
                                   | SSL_OP_CIPHER_SERVER_PREFERENCE);
}

static inline int tls_context_set_versions(SSL_CTX *context, int minimum, int maximum) {
  return SSL_CTX_set_min_proto_version(context, minimum) == 1 && SSL_CTX_set_max_proto_version(context, maximum) == 1;
}

// For looking at old servers: whatever this library can still speak.
static inline void tls_context_allow_old(SSL_CTX *context) {
  SSL_CTX_set_min_proto_version(context, 0);
  SSL_CTX_set_security_level(context, 0);
  SSL_CTX_set_options(context, SSL_OP_LEGACY_SERVER_CONNECT);
}

static inline int tls_context_add_chain_certificate(SSL_CTX *context, X509 *certificate) {
  return SSL_CTX_add1_chain_cert(context, certificate) == 1;
}

static inline int tls_set_server_name(SSL *ssl, const char *name) {
  return SSL_set_tlsext_host_name(ssl, name) == 1;
}

static inline int tls_error_library(unsigned long code) { return ERR_GET_LIB(code); }
static inline int tls_error_reason(unsigned long code) { return ERR_GET_REASON(code); }
