import Foundation
import Glibc
import HTTPServer
import Logging
import OpenSSL
import Reactor
import Synchronization

/// The files with the server's certificate and its key.
struct TLSFiles: Sendable {
  let certificate: String
  let key: String

  /// What tells whether they are others than before, without reading them. Symbolic links are followed: certbot moves
  /// those.
  struct Stamp: Sendable, Equatable {
    private let values: [Int]

    fileprivate init(_ paths: [String]) {
      values = paths.flatMap { path -> [Int] in
        var file = stat()
        guard stat(path, &file) == 0 else { return [-1] }
        return [
          Int(file.st_dev), Int(truncatingIfNeeded: file.st_ino), Int(file.st_size), file.st_mtim.tv_sec,
          file.st_mtim.tv_nsec,
        ]
      }
    }
  }

  var stamp: Stamp { Stamp([certificate, key]) }

  /// Reads both.
  ///
  /// - Throws: `CommandFailure`, which names the files.
  func load() throws -> TLSContext {
    func read(_ path: String) throws -> [UInt8] {
      guard let data = FileManager.default.contents(atPath: path) else {
        throw CommandFailure("\(path) cannot be read.")
      }
      return Array(data)
    }
    let identity = TLSIdentity(certificateChainPEM: try read(certificate), privateKeyPEM: try read(key))
    do {
      return try TLSContext.server(identity: identity, alpn: ["http/1.1"])
    } catch {
      throw CommandFailure("\(certificate) and \(key): \(error)")
    }
  }
}

/// Gives a server the certificate anew when its files change, as a renewal changes them, or when it is told to.
final class TLSRenewal: Sendable {
  private struct State {
    /// What the server shows, or was found to be no good.
    var judged: TLSFiles.Stamp
    var seen: TLSFiles.Stamp
  }

  private let files: TLSFiles
  private let server: Server
  private let pool: BlockingPool
  private let log: Logger
  private let state: Mutex<State>

  /// - Parameter stamp: of what the server shows already.
  init(_ files: TLSFiles, stamp: TLSFiles.Stamp, server: Server, pool: BlockingPool, log: Logger) {
    self.files = files
    self.server = server
    self.pool = pool
    self.log = log
    state = Mutex(State(judged: stamp, seen: stamp))
  }

  /// Looks now and then, until the task is cancelled.
  func run(every pause: Duration) async {
    while true {
      do {
        try await Task.sleep(for: pause)
        try await pool.run { [self] in look() }
      } catch {
        return
      }
    }
  }

  /// Reads the files in any case.
  func reload() async throws {
    try await pool.run { [self] in read(files.stamp) }
  }

  /// Reads the files if they are others, and the same as at the look before: certificate and key are written one after
  /// the other.
  private func look() {
    let stamp = files.stamp
    let isDue = state.withLock { state in
      defer { state.seen = stamp }
      return stamp == state.seen && stamp != state.judged
    }
    if isDue { read(stamp) }
  }

  private func read(_ stamp: TLSFiles.Stamp) {
    state.withLock { $0.judged = stamp }
    do {
      server.replaceTLS(try files.load())
      log.notice("reloaded the TLS certificate", ["file": files.certificate])
    } catch {
      log.error("the new TLS certificate cannot be used; still using the previous one", ["error": "\(error)"])
    }
  }
}
