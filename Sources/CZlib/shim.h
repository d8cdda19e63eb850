#include <zlib.h>

/// deflateInit2 is a macro. 15 + 16 is the largest window, in gzip's frame (RFC 1952).
static inline int czlib_begin_gzip(z_stream *stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
}
