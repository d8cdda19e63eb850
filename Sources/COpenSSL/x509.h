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
#include <openssl/decoder.h>
#include <openssl/provider.h>
#include <openssl/proverr.h>
#include <openssl/rand.h>
#include <openssl/err.h>

static inline int pki_error_reason(unsigned long code) { return ERR_GET_REASON(code); }
static inline int pki_error_is_unsupported(unsigned long code) { return ERR_GET_REASON(code) == ERR_R_UNSUPPORTED; }
static inline void pki_free(void *memory) { OPENSSL_free(memory); }

// Stacks are macros over a generic type.
static inline int pki_certificates_count(const STACK_OF(X509) *stack) { return stack ? sk_X509_num(stack) : 0; }
static inline X509 *pki_certificates_at(const STACK_OF(X509) *stack, int index) { return sk_X509_value(stack, index); }
// Frees the certificates with the stack.
static inline void pki_certificates_free(STACK_OF(X509) *stack) { sk_X509_pop_free(stack, X509_free); }

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

// Reads private keys: without the selection, public ones as well. The context keeps the pointer to "DER".
static inline OSSL_DECODER_CTX *pki_key_decoder(EVP_PKEY **place) {
  return OSSL_DECODER_CTX_new_for_pkey(place, "DER", NULL, NULL, OSSL_KEYMGMT_SELECT_PRIVATE_KEY, NULL, NULL);
}

// Reads public keys as certificates hold them.
static inline OSSL_DECODER_CTX *pki_public_key_decoder(EVP_PKEY **place) {
  return OSSL_DECODER_CTX_new_for_pkey(place, "DER", "SubjectPublicKeyInfo", NULL, EVP_PKEY_PUBLIC_KEY, NULL, NULL);
}

// Old keys are encrypted with DES or MD5: for the time of the call this thread looks algorithms up in `context`.
static inline EVP_PKEY *pki_read_key_pem(OSSL_LIB_CTX *context, BIO *bio, const char *bytes, int length) {
  struct pki_password password = {bytes, length};
  OSSL_LIB_CTX *before = OSSL_LIB_CTX_set0_default(context);
  EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, pki_give_password, &password);
  OSSL_LIB_CTX_set0_default(before);
  return key;
}

// Opens EncryptedPrivateKeyInfo (RFC 5208 §6). OpenSSL's own readers also decode what is inside, and collect all their
// decoders for that.
static inline PKCS8_PRIV_KEY_INFO *pki_decrypt_key(OSSL_LIB_CTX *context, const unsigned char *der, long size,
                                                   const char *password, int length) {
  X509_SIG *closed = d2i_X509_SIG(NULL, &der, size);
  if (!closed) return NULL;
  OSSL_LIB_CTX *before = OSSL_LIB_CTX_set0_default(context);
  PKCS8_PRIV_KEY_INFO *opened = PKCS8_decrypt(closed, password, length);
  OSSL_LIB_CTX_set0_default(before);
  X509_SIG_free(closed);
  return opened;
}

// The parts of a PKCS#12 file, and the bags in one of them; NULL if a part cannot be opened.
static inline STACK_OF(PKCS7) *pki_safes(const PKCS12 *file) { return PKCS12_unpack_authsafes(file); }
static inline int pki_safes_count(const STACK_OF(PKCS7) *safes) { return safes ? sk_PKCS7_num(safes) : 0; }
static inline PKCS7 *pki_safes_at(const STACK_OF(PKCS7) *safes, int index) { return sk_PKCS7_value(safes, index); }
static inline void pki_safes_free(STACK_OF(PKCS7) *safes) { sk_PKCS7_pop_free(safes, PKCS7_free); }
static inline int pki_safe_kind(const PKCS7 *safe) { return OBJ_obj2nid(safe->type); }
// NID of the algorithm with which an encrypted part is closed.
static inline int pki_safe_algorithm(const PKCS7 *safe) {
  const X509_ALGOR *algorithm = safe->d.encrypted ? safe->d.encrypted->enc_data->algorithm : NULL;
  return algorithm ? OBJ_obj2nid(algorithm->algorithm) : NID_undef;
}
static inline STACK_OF(PKCS12_SAFEBAG) *pki_bags(PKCS7 *safe, const char *password, int length) {
  return pki_safe_kind(safe) == NID_pkcs7_data ? PKCS12_unpack_p7data(safe)
                                               : PKCS12_unpack_p7encdata(safe, password, length);
}
static inline int pki_bags_count(const STACK_OF(PKCS12_SAFEBAG) *bags) { return bags ? sk_PKCS12_SAFEBAG_num(bags) : 0; }
static inline PKCS12_SAFEBAG *pki_bags_at(const STACK_OF(PKCS12_SAFEBAG) *bags, int index) {
  return sk_PKCS12_SAFEBAG_value(bags, index);
}
static inline void pki_bags_free(STACK_OF(PKCS12_SAFEBAG) *bags) {
  sk_PKCS12_SAFEBAG_pop_free(bags, PKCS12_SAFEBAG_free);
}
// NID of the algorithm with which a key's bag is closed.
static inline int pki_bag_algorithm(const PKCS12_SAFEBAG *bag) {
  const X509_ALGOR *algorithm = NULL;
  const X509_SIG *closed = PKCS12_SAFEBAG_get0_pkcs8(bag);
  if (closed) X509_SIG_get0(closed, &algorithm, NULL);
  return algorithm ? OBJ_obj2nid(algorithm->algorithm) : NID_undef;
}

static inline int pki_signers_count(CMS_ContentInfo *message) {
  STACK_OF(CMS_SignerInfo) *signers = CMS_get0_SignerInfos(message);
  return signers ? sk_CMS_SignerInfo_num(signers) : 0;
}

// A memory BIO for secrets: what was in it is overwritten when it is freed.
static inline BIO *pki_secret_bio(void) {
  BIO *bio = BIO_new(BIO_s_secmem());
  if (bio) BIO_set_mem_eof_return(bio, 0);
  return bio;
}

// As `UID=com.example, CN=Name, O=Owner`, in the order of the certificate, in UTF-8, control characters escaped.
static inline int pki_print_name(BIO *bio, const X509_NAME *name) {
  return X509_NAME_print_ex(bio, name, 0,
                            XN_FLAG_SEP_CPLUS_SPC | XN_FLAG_FN_SN | ASN1_STRFLGS_ESC_2253 | ASN1_STRFLGS_ESC_CTRL |
                                ASN1_STRFLGS_UTF8_CONVERT | ASN1_STRFLGS_DUMP_UNKNOWN | ASN1_STRFLGS_DUMP_DER);
}

// Neither this process's memory nor its registers are written to a file when it crashes: keys are among them.
// A core dump that is piped to a program asks for no limit, so the process says itself that it has none.
#include <sys/prctl.h>
#include <sys/resource.h>
static inline int pki_forbid_dumps(void) {
  struct rlimit none = {0, 0};
  return setrlimit(RLIMIT_CORE, &none) == 0 && prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0;
}
