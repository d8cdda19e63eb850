import COpenSSL

/// What keeps secrets in memory where they are.
package enum SecretMemory {
  /// From now on a crash writes no core dump, and no other process of the same user reads this one's memory
  /// (prctl(2), `PR_SET_DUMPABLE`; setrlimit(2), `RLIMIT_CORE`).
  ///
  /// - Returns: whether the system agreed.
  @discardableResult
  package static func forbidDumps() -> Bool { pki_forbid_dumps() == 1 }
}
