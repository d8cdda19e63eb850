package import Foundation
import OpenSSL
package import Model
package import Store
import Text

/// An issue of a watched host.
package struct HostFinding: Sendable, Hashable {
  /// Whether clients refuse the host, or its state is unknown; otherwise it is a note.
  package let isGrave: Bool
  package let problem: Problem

  private init(_ isGrave: Bool, _ message: HostMessage, _ arguments: [String: String] = [:]) {
    self.isGrave = isGrave
    problem = Problem("", message, arguments)
  }

  private init(_ failure: HostFailure) {
    isGrave = true
    problem = failure.problem
  }

  /// Seconds (72 hours). An older sighting is reported as outdated.
  static let staleness: TimeInterval = 72 * 3600

  /// The reason why the host's expiry is unknown; nil if it is known.
  package static func blindness(_ host: WatchedHost, now: Date) -> HostFinding? {
    if let failure = host.failure { return HostFinding(failure) }
    guard let answeredAt = host.answeredAt else { return HostFinding(true, .notLookedAt) }
    guard now.timeIntervalSince(answeredAt) > staleness else { return nil }
    return HostFinding(true, .stale, ["date": answeredAt.utcText])
  }

  /// All findings of a host, grave ones first.
  package static func all(_ host: WatchedHost, now: Date) -> [HostFinding] {
    let blindness = blindness(host, now: now).map { [$0] } ?? []
    guard let seen = host.seen else { return blindness }
    return blindness + all(seen, of: host.address, now: now)
  }

  /// All findings of a sighting, grave ones first.
  package static func all(_ seen: HostSighting, of address: HostAddress, now: Date) -> [HostFinding] {
    // Certificates of one chain can have the same name and end.
    let found = (dates(seen, now: now) + trust(seen) + name(seen, address.serverName)).reduce(into: [HostFinding]()) {
      if !$0.contains($1) { $0.append($1) }
    }
    return found.filter(\.isGrave) + found.filter { !$0.isGrave }
  }

  private static func dates(_ seen: HostSighting, now: Date) -> [HostFinding] {
    var findings: [HostFinding] = []
    for link in seen.chain where Expiry.band(notBefore: nil, notAfter: link.notAfter, now: now) == .expired {
      let arguments = ["name": link.subject.singleLine, "date": link.notAfter.utcText]
      findings.append(HostFinding(!link.isSurplus, link.isSurplus ? .surplusExpired : .expired, arguments))
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
    let last = ["name": (seen.path.last?.subject ?? seen.subject).singleLine]
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
    guard !seen.names.isEmpty else { return [HostFinding(true, .noNames, ["asked": asked])] }
    let names = seen.names.prefix(5).joined(separator: ", ") + (seen.names.count > 5 ? ", …" : "")
    return [HostFinding(true, .wrongName, ["asked": asked, "names": names.singleLine])]
  }
}
