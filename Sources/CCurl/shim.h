#include <string.h>
#include <curl/curl.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

/// curl_easy_setopt and curl_easy_getinfo are variadic macros; each function is one of the types that they take.
static inline CURLcode ccurl_set_long(CURL *handle, CURLoption option, long value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_text(CURL *handle, CURLoption option, const char *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_list(CURL *handle, CURLoption option, struct curl_slist *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_pointer(CURL *handle, CURLoption option, void *value) {
  return curl_easy_setopt(handle, option, value);
}
static inline CURLcode ccurl_set_copy(CURL *handle, CURLoption option, const void *bytes, size_t count) {
  struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
  return curl_easy_setopt(handle, option, &blob);
}
static inline CURLcode ccurl_set_transfer(CURL *handle, CURLoption option, curl_read_callback callback) {
  return curl_easy_setopt(handle, option, callback);
}
static inline CURLcode ccurl_set_debug(CURL *handle, curl_debug_callback callback) {
  return curl_easy_setopt(handle, CURLOPT_DEBUGFUNCTION, callback);
}
static inline CURLcode ccurl_get_long(CURL *handle, CURLINFO info, long *value) {
  return curl_easy_getinfo(handle, info, value);
}

/// Whether an IPv4 address is link-local (RFC 3927), or Alibaba's metadata service, 100.100.100.200.
static inline int ccurl_is_private_to_machine4(const unsigned char *bytes) {
  return (bytes[0] == 169 && bytes[1] == 254)
    || (bytes[0] == 100 && bytes[1] == 100 && bytes[2] == 100 && bytes[3] == 200);
}

/// Whether an address is link-local (RFC 3927, RFC 4291) or another one where a cloud machine finds its metadata service;
/// the same as `SocketAddress.isLinkLocalOrMetadata`.
static inline int ccurl_is_link_local(const struct sockaddr *address) {
  if (address->sa_family == AF_INET) {
    return ccurl_is_private_to_machine4((const unsigned char *)&((const struct sockaddr_in *)address)->sin_addr);
  }
  if (address->sa_family != AF_INET6) return 0;
  const unsigned char *bytes = ((const struct sockaddr_in6 *)address)->sin6_addr.s6_addr;
  if (bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80) return 1;
  static const unsigned char amazon[16] = {0xfd, 0, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54};
  static const unsigned char google[16] = {0xfd, 0x20, 0, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54};
  if (!memcmp(bytes, amazon, 16) || !memcmp(bytes, google, 16)) return 1;
  for (int index = 0; index < 10; index++) if (bytes[index]) return 0;
  return bytes[10] == 0xff && bytes[11] == 0xff && ccurl_is_private_to_machine4(bytes + 12);
}

/// A curl_opensocket_callback that goes everywhere but to link-local and metadata addresses.
static inline curl_socket_t ccurl_open_socket(void *unused, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)unused;
  (void)purpose;
  if (ccurl_is_link_local(&address->addr)) return CURL_SOCKET_BAD;
  return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}
static inline CURLcode ccurl_refuse_link_local(CURL *handle) {
  return curl_easy_setopt(handle, CURLOPT_OPENSOCKETFUNCTION, ccurl_open_socket);
}
