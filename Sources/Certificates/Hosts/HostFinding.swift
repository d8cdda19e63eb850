package import Foundation
import OpenSSL
package import Model
package import Store
import Text

/// One thing about a watched host that somebody should know.
package struct HostFinding: Sendable, Hashable {
  /// Whether clients refuse the host for it, or nothing is known; else it is a note.
  package let isGrave: Bool
  /// Code, sentence, and what it is filled with.
  package let problem: Problem

  private init(_ isGrave: Bool, _ message: HostMessage, _ arguments: [String: String] = [:]) {
    self.isGrave = isGrave
    problem = Problem("", message, arguments)
  }

  private init(_ failure: HostFailure) {
    isGrave = true
    problem = failure.problem
  }

  /// A sighting that is older than this says too little: 72 hours.
  static let staleness: TimeInterval = 72 * 3600

  /// Why it cannot be told how long a host's certificate lasts; nil if it can.
  package static func blindness(_ host: WatchedHost, now: Date) -> HostFinding? {
    if let failure = host.failure { return HostFinding(failure) }
    guard let answeredAt = host.answeredAt else { return HostFinding(true, .notLookedAt) }
    guard now.timeIntervalSince(answeredAt) > staleness else { return nil }
    return HostFinding(true, .stale, ["date": answeredAt.utcText])
  }

  /// Everything about a host, grave things first.
  package static func all(_ host: WatchedHost, now: Date) -> [HostFinding] {
    let blindness = blindness(host, now: now).map { [$0] } ?? []
    guard let seen = host.seen else { return blindness }
    return blindness + all(seen, of: host.address, now: now)
  }

  /// Everything about what a host shows, grave things first.
  package static func all(_ seen: HostSighting, of address: HostAddress, now: Date) -> [HostFinding] {
    let found = dates(seen, now: now) + trust(seen) + name(seen, address.serverName)
    return found.filter(\.isGrave) + found.filter { !$0.isGrave }
  }

  private static func dates(_ seen: HostSighting, now: Date) -> [HostFinding] {
    var findings: [HostFinding] = []
    for link in seen.chain where Expiry.band(notBefore: nil, notAfter: link.notAfter, now: now) == .expired {
      findings.append(
        HostFinding(true, .expired, ["name": link.subject.singleLine, "date": link.notAfter.utcText]))
    }
    if let notBefore = seen.notBefore, now < notBefore {
      findings.append(HostFinding(true, .notYetValid, ["date": notBefore.utcText]))
    }
    if let own = seen.chain.first, let ends = seen.ends, ends != own, now <= ends.notAfter {
      findings.append(
        HostFinding(false, .issuerEndsFirst, ["name": ends.subject.singleLine, "date": ends.notAfter.utcText]))
    }
    return findings
  }

  private static func trust(_ seen: HostSighting) -> [HostFinding] {
    let last = ["name": (seen.chain.last?.subject ?? seen.subject).singleLine]
    return switch TLSChainTrust(rawValue: seen.trust) ?? .invalid {
    case .trusted: []
    case .selfSigned: [HostFinding(false, .selfSigned)]
    case .incomplete: [HostFinding(false, .incomplete, last)]
    case .unknownAuthority: [HostFinding(false, .unknownAuthority, last)]
    case .invalid: [HostFinding(true, .invalidChain)]
    }
  }

  private static func name(_ seen: HostSighting, _ asked: String) -> [HostFinding] {
    guard !seen.nameMatches else { return [] }
    let names = seen.names.prefix(5).joined(separator: ", ") + (seen.names.count > 5 ? ", …" : "")
    return [HostFinding(true, .wrongName, ["asked": asked, "names": names.isEmpty ? "nobody" : names.singleLine])]
  }
}
