#include <sqlite3.h>
#include <stdint.h>
#include <sys/vfs.h>

/// The macro is a cast that Swift cannot import: SQLite copies the bytes before the bind call returns.
static inline sqlite3_destructor_type csqlite_transient(void) { return SQLITE_TRANSIENT; }

/// sqlite3_db_config is variadic; every verb used here takes (int, int *).
static inline int csqlite_config_flag(sqlite3 *db, int verb, int on) { return sqlite3_db_config(db, verb, on, (int *)0); }

/// The kind of file system a file lies on, statfs(2) f_type (Glibc's module map lacks the header); -1 and errno if the
/// file cannot be reached.
static inline long long csqlite_file_system(const char *path) {
  struct statfs information;
  return statfs(path, &information) == 0 ? (long long)(unsigned int)information.f_type : -1;
}

/// Reads a database's file, and then its log, to the end, as SQLite's own layer above the system does. SQLITE_OK; or
/// what that layer says. A connection says of some errors of a disk (EIO among them) that the file is damaged: only
/// here they can be told apart. The file is not opened for it: closing it would drop the locks of this process.
static inline int csqlite_read_through(sqlite3 *db) {
  static const int files[] = {SQLITE_FCNTL_FILE_POINTER, SQLITE_FCNTL_JOURNAL_POINTER};
  enum { chunk = 1 << 16 };
  char *bytes = (char *)sqlite3_malloc(chunk);
  int code = bytes ? SQLITE_OK : SQLITE_NOMEM;
  for (int which = 0; which < 2 && code == SQLITE_OK; which++) {
    sqlite3_file *file = 0;
    sqlite3_int64 size = 0;
    if (sqlite3_file_control(db, "main", files[which], &file) != SQLITE_OK || !file || !file->pMethods) continue;
    code = file->pMethods->xFileSize(file, &size);
    for (sqlite3_int64 at = 0; at < size && code == SQLITE_OK; at += chunk) {
      code = file->pMethods->xRead(file, bytes, chunk, at);
      if (code == SQLITE_IOERR_SHORT_READ) code = SQLITE_OK;
    }
  }
  sqlite3_free(bytes);
  return code;
}

/// Where the index of a connection's write-ahead log lies in memory that all processes share that have the file open; 0
/// if the connection has no log. SQLite maps it once the log was read, and keeps it there until it closes the last
/// connection of the process to this file.
static inline uintptr_t csqlite_log_index(sqlite3 *db) {
  sqlite3_file *file = 0;
  void volatile *start = 0;
  if (sqlite3_file_control(db, "main", SQLITE_FCNTL_FILE_POINTER, &file) != SQLITE_OK || !file) return 0;
  if (!file->pMethods || file->pMethods->iVersion < 2 || !file->pMethods->xShmMap) return 0;
  // The index grows by blocks of this size; the first begins with its header (https://www.sqlite.org/walformat.html §2).
  if (file->pMethods->xShmMap(file, 0, 32768, 0, &start) != SQLITE_OK) return 0;
  return (uintptr_t)start;
}

/// What a commit changes in the header of that index: its counter and the log's last frame, salts, checksum.
typedef struct { uint64_t counter, salt, checksum; } csqlite_log_state;

static inline csqlite_log_state csqlite_read_log_state(uintptr_t index) {
  const uint32_t *header = (const uint32_t *)index;
  uint32_t words[12];
  for (int at = 0; at < 12; at++) words[at] = __atomic_load_n(header + at, __ATOMIC_ACQUIRE);
  return (csqlite_log_state){(uint64_t)words[2] << 32 | words[4], (uint64_t)words[8] << 32 | words[9],
                             (uint64_t)words[10] << 32 | words[11]};
}
