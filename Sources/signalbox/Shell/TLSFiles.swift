import Foundation
import Glibc
import HTTPServer
import Logging
import OpenSSL
import Reactor
import Synchronization
import Text

/// The files of the server's certificate and its key.
struct TLSFiles: Sendable {
  let certificate: String
  let key: String

  /// Tells whether the files have changed, without reading them. Follows symbolic links, which certbot replaces.
  struct Stamp: Sendable, Equatable {
    private let values: [Int]

    fileprivate init(_ paths: [String]) {
      values = paths.flatMap { path -> [Int] in
        var file = stat()
        guard stat(path, &file) == 0 else { return [-1] }
        return [
          Int(file.st_dev), Int(truncatingIfNeeded: file.st_ino), Int(file.st_size), file.st_mtim.tv_sec,
          file.st_mtim.tv_nsec,
          // A renewal may let this user read the files only after it has written them.
          Int(file.st_mode), Int(file.st_uid), Int(file.st_gid),
        ]
      }
    }
  }

  /// Why browsers and apps do not trust the certificate by themselves; nil if nothing speaks against it.
  var warning: Message? {
    guard let text = FileManager.default.contents(atPath: certificate),
      let own = try? Certificate.pemBundle(String(decoding: text, as: UTF8.self)).first,  // load() says why not
      own.isSelfSigned
    else { return nil }
    return """
      the certificate in \(certificate) is self-signed: browsers warn about it, and apps and webhooks refuse it. Use \
      one from a public authority, such as Let's Encrypt, or from your own authority that clients trust.
      """
  }

  var stamp: Stamp { Stamp([certificate, key]) }

  /// - Throws: `CommandFailure`, which names the files.
  func load() throws -> TLSContext {
    func read(_ path: String, _ option: String) throws -> [UInt8] {
      do {
        return Array(try NamedFile.open(path).readToEnd() ?? Data())
      } catch let failure as CommandFailure {
        throw CommandFailure("\(option): \(failure.message)")
      } catch {
        throw CommandFailure("\(option): \(NamedFile.words(error))")
      }
    }
    let identity = TLSIdentity(
      certificateChainPEM: try read(certificate, "--tls-certificate"), privateKeyPEM: try read(key, "--tls-key"))
    do {
      return try TLSContext.server(identity: identity, alpn: ["http/1.1"])
    } catch {
      throw CommandFailure("\(certificate) and \(key): \(error)")
    }
  }
}

/// Reloads the server's certificate when its files change, e.g. after a renewal, or on request.
final class TLSRenewal: Sendable {
  private struct State {
    /// The files in use, or the last ones that were rejected.
    var judged: TLSFiles.Stamp
    var seen: TLSFiles.Stamp
  }

  private let files: TLSFiles
  private let server: Server
  private let pool: BlockingPool
  private let log: Logger
  private let state: Mutex<State>

  /// - Parameter stamp: of the files that the server uses already.
  init(_ files: TLSFiles, stamp: TLSFiles.Stamp, server: Server, pool: BlockingPool, log: Logger) {
    (self.files, self.server, self.pool, self.log) = (files, server, pool, log)
    state = Mutex(State(judged: stamp, seen: stamp))
  }

  /// Checks the files at intervals until the task is cancelled.
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

  /// Reloads the files even if they seem unchanged.
  func reload() async throws { try await pool.run { [self] in read(files.stamp) } }

  /// Reloads changed files once they are the same in two checks: certificate and key are written one after the other.
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
      if let warning = files.warning { log.warning("\(warning)") }
    } catch {
      log.error("the new TLS certificate cannot be used; still using the previous one", ["error": "\(error)"])
    }
  }
}
