import Foundation
import Model
import Store
import Text

/// The plain-text dialogue before TLS begins, as a state machine without I/O.
struct StartTLSDialogue {
  enum Step: Equatable {
    /// More bytes are needed.
    case read
    /// Send this, then read on.
    case send([UInt8])
    /// TLS can begin.
    case ready
  }

  private enum State { case greeting, capabilities, answer }

  /// Bytes; no real greeting is longer.
  static let limit = 16_384

  private let start: HostAddress.StartProtocol
  private var state = State.greeting
  private var buffer: [UInt8] = []
  private var isOffered = false

  init(_ start: HostAddress.StartProtocol) { self.start = start }

  /// The step before any bytes have arrived.
  var first: Step {
    switch start {
    case .tls: .ready
    case .smtp, .imap, .pop3: .read
    // "SSLRequest": its own length, and 80877103 (PostgreSQL documentation, Message Formats).
    case .postgres: .send([0, 0, 0, 8, 0x04, 0xD2, 0x16, 0x2F])
    }
  }

  /// Takes received bytes.
  ///
  /// - Throws: `HostFailure`, `wrongProtocol` or `startTLSNotOffered`.
  mutating func receive(_ bytes: some Sequence<UInt8>) throws(HostFailure) -> Step {
    buffer += bytes
    if start == .postgres { return try postgres() }
    var step = Step.read
    while step == .read, let end = buffer.firstIndex(of: 0x0A) {
      let line = String(decoding: buffer[..<end], as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
      buffer.removeSubrange(...end)
      step = try read(line)
    }
    // Plain text after the answer would be taken as sent under TLS (CVE-2011-0411).
    if step == .ready, !buffer.isEmpty { throw HostFailure(.wrongProtocol, detail: "bytes before TLS began") }
    guard buffer.count <= Self.limit else { throw HostFailure(.wrongProtocol, detail: "a line without an end") }
    return step
  }

  private mutating func postgres() throws(HostFailure) -> Step {
    switch buffer {
    case []: return .read
    case [0x53]: return .ready
    case [0x4E]: throw HostFailure(.startTLSNotOffered, detail: "it answered N")
    default: throw HostFailure(.wrongProtocol, detail: excerpt(String(decoding: buffer, as: UTF8.self)))
    }
  }

  private mutating func read(_ line: String) throws(HostFailure) -> Step {
    switch start {
    case .smtp: try smtp(line)
    case .imap: try imap(line)
    case .pop3: try pop3(line)
    case .tls, .postgres: .read
    }
  }

  /// RFC 5321 §4.2: three digits, then `-` on every line but the last.
  private mutating func smtp(_ line: String) throws(HostFailure) -> Step {
    let code = line.prefix(3)
    guard code.utf8.count == 3, code.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { throw unexpected(line) }
    let isLast = !line.dropFirst(3).hasPrefix("-")
    switch state {
    case .greeting:
      guard code == "220" else { throw HostFailure(.startTLSNotOffered, detail: excerpt(line)) }
      guard isLast else { return .read }
      state = .capabilities
      return .send(Array("EHLO signalbox.invalid\r\n".utf8))
    case .capabilities:
      guard code == "250" else { throw HostFailure(.startTLSNotOffered, detail: excerpt(line)) }
      if line.dropFirst(4).trimmingCharacters(in: .whitespaces).uppercased() == "STARTTLS" { isOffered = true }
      guard isLast else { return .read }
      guard isOffered else { throw HostFailure(.startTLSNotOffered, detail: "no STARTTLS in the answer to EHLO") }
      state = .answer
      return .send(Array("STARTTLS\r\n".utf8))
    case .answer:
      guard code == "220" else { throw HostFailure(.startTLSNotOffered, detail: excerpt(line)) }
      return isLast ? .ready : .read
    }
  }

  private mutating func imap(_ line: String) throws(HostFailure) -> Step {
    let upper = line.uppercased()
    if state == .greeting {
      guard upper.hasPrefix("* OK") else {
        if upper.hasPrefix("* ") { throw HostFailure(.startTLSNotOffered, detail: excerpt(line)) }
        throw unexpected(line)
      }
      state = .answer
      return .send(Array("a STARTTLS\r\n".utf8))
    }
    if upper.hasPrefix("A OK") { return .ready }
    if upper.hasPrefix("A ") || upper.hasPrefix("* BYE") {
      throw HostFailure(.startTLSNotOffered, detail: excerpt(line))
    }
    return .read
  }

  private mutating func pop3(_ line: String) throws(HostFailure) -> Step {
    let isGood = line.uppercased().hasPrefix("+OK")
    guard isGood || line.uppercased().hasPrefix("-ERR") else { throw unexpected(line) }
    guard isGood else { throw HostFailure(.startTLSNotOffered, detail: excerpt(line)) }
    if state == .answer { return .ready }
    state = .answer
    return .send(Array("STLS\r\n".utf8))
  }

  private func unexpected(_ line: String) -> HostFailure { HostFailure(.wrongProtocol, detail: excerpt(line)) }

  private func excerpt(_ line: String) -> String { String(line.singleLine.prefix(100)) }
}
