// Macros of OpenSSL's X.509, PKCS#12 and CMS headers that Swift cannot import.
#pragma once
#include <string.h>
#include <openssl/x509v3.h>
#include <openssl/pkcs12.h>
#include <openssl/cms.h>
#include <openssl/pem.h>
#include <openssl/evp.h>
#include <openssl/ec.h>
#include <openssl/hmac.h>
#include <openssl/kdf.h>
#include <openssl/core_names.h>
#include <openssl/provider.h>
#include <openssl/proverr.h>
#include <openssl/rand.h>
#include <openssl/err.h>

static inline int pki_error_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline int pki_error_is_unsupported(unsigned long code) { return ERR_GET_REASON(code) == ERR_R_UNSUPPORTED; }
static inline void pki_free(void *memory) { OPENSSL_free(memory); }

// Stacks are macros over a generic type.
static inline STACK_OF(X509) *pki_certificates_new(void) { return sk_X509_new_null(); }
static inline int pki_certificates_push(STACK_OF(X509) *stack, X509 *certificate) {
  return sk_X509_push(stack, certificate);
}
static inline int pki_certificates_count(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }
static inline X509 *pki_certificates_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
// Frees the certificates with the stack.
static inline void pki_certificates_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }
// Frees the stack alone.
static inline void pki_certificates_release(STACK_OF(X509) *stack) { sk_X509_free(stack); }

// A memory BIO that reports its end as an end, not as "try again".
static inline BIO *pki_memory_bio(void) {
  BIO *bio = BIO_new(BIO_s_mem());
  if (bio) BIO_set_mem_eof_return(bio, 0);
  return bio;
}

// A password with its length; without one the reader is told so. OpenSSL's own callback would ask the terminal.
struct pki_password {
  const char *bytes;
  int length;
};

static int pki_give_password(char *buffer, int size, int writing, void *user) {
  const struct pki_password *password = (const struct pki_password *)user;
  (void)writing;
  if (!password->bytes || password->length > size) return -1;
  memcpy(buffer, password->bytes, (size_t)password->length);
  return password->length;
}

static inline EVP_PKEY *pki_read_key_pem(BIO *bio, const char *bytes, int length) {
  struct pki_password password = {bytes, length};
  return PEM_read_bio_PrivateKey(bio, NULL, pki_give_password, &password);
}

static inline EVP_PKEY *pki_read_encrypted_key_der(BIO *bio, const char *bytes, int length) {
  struct pki_password password = {bytes, length};
  return d2i_PKCS8PrivateKey_bio(bio, NULL, pki_give_password, &password);
}

// As `UID=com.example, CN=Name, O=Owner`, in the order of the certificate, in UTF-8, control characters escaped.
static inline int pki_print_name(BIO *bio, const X509_NAME *name) {
  return X509_NAME_print_ex(bio, name, 0,
                            XN_FLAG_SEP_CPLUS_SPC | XN_FLAG_FN_SN | ASN1_STRFLGS_ESC_2253 | ASN1_STRFLGS_ESC_CTRL |
                                ASN1_STRFLGS_UTF8_CONVERT | ASN1_STRFLGS_DUMP_UNKNOWN | ASN1_STRFLGS_DUMP_DER);
}
