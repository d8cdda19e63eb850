#include <sqlite3.h>
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
