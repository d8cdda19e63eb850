package import Foundation
import Model
package import Store

/// Compares a new file with what it is to replace. Pure; used by the page, the API and the command line.
package struct RenewalCheck: Sendable {
  private let old: RenewalSubject
  private let new: RenewalSubject
  private let uses: [TrackedCertificate.Use]
  private let warnings: [FileWarning]
  private let now: Date

  /// - Parameters:
  ///   - uses: the credentials that use the old certificate.
  ///   - warnings: what is odd about the new file itself.
  package init(
    old: RenewalSubject, new: RenewalSubject, uses: [TrackedCertificate.Use], warnings: [FileWarning] = [], now: Date
  ) {
    (self.old, self.new, self.uses, self.warnings, self.now) = (old, new, uses, warnings, now)
  }

  /// Most severe first.
  package var findings: [RenewalFinding] {
    if let sha256 = old.sha256, sha256 == new.sha256 { return [RenewalFinding(.stop, .sameFile)] }
    if let kind, kind.level == .stop { return [kind] }
    let bad = [kind, account, privateKey, team, sameKey].compactMap { $0 } + topics + environments + dates + ofFile
    let order = RenewalFinding.Level.allCases
    let sorted = order.flatMap { level in bad.filter { $0.level == level } }
    return sorted + (bad.contains { $0.level == .stop } ? [] : good)
  }

  private var kind: RenewalFinding? {
    switch (old.kind, new.kind) {
    case (let one?, let other?) where one == other: return nil
    case (.apnsCertificate?, .apnsKey?), (.voipCertificate?, .apnsKey?): return RenewalFinding(.warn, .toKey)
    case (.apnsKey?, .apnsCertificate?), (.apnsKey?, .voipCertificate?):
      return RenewalFinding(.warn, .fromKey, ["date": new.notAfter?.day ?? "–", "topics": names(Set(new.topics.keys))])
    // A certificate for all push types may replace one for VoIP: the topics decide. The other way round, the app's own
    // topic is lost.
    case (.voipCertificate?, .apnsCertificate?), (.apnsCertificate?, .voipCertificate?): return nil
    case (let one, let other):
      return RenewalFinding(.stop, .kind, ["old": one?.rawValue.spaced ?? "–", "new": other?.rawValue.spaced ?? "–"])
    }
  }

  private var privateKey: RenewalFinding? {
    guard !new.hasPrivateKey, old.hasPrivateKey || !uses.isEmpty else { return nil }
    return RenewalFinding(new.isForPushes ? .stop : .warn, .noKey)
  }

  private var team: RenewalFinding? {
    guard let before = old.teamID, let after = new.teamID, before != after else { return nil }
    return RenewalFinding(.warn, .team, ["old": before, "new": after])
  }

  /// Tokens belong to the project or AppKey with which the app registered them; another one reaches none of them.
  private var account: RenewalFinding? {
    guard let before = old.account, let after = new.account, before != after else { return nil }
    let devices = uses.reduce(0) { $0 + $1.activeDevices }
    return RenewalFinding(
      .stop, new.kind == .jpushKeyPair ? .appKey : .project, ["old": before, "new": after, "count": "\(devices)"])
  }

  private var sameKey: RenewalFinding? {
    guard let key = old.publicKey, key == new.publicKey else { return nil }
    return RenewalFinding(.warn, .sameKey)
  }

  // MARK: Topics

  private var topics: [RenewalFinding] {
    guard new.kind != .apnsKey else { return [] }
    guard new.isForPushes else {
      let (before, after) = (Set(old.topics.keys), Set(new.topics.keys))
      guard before.isEmpty ? old.kind == .tlsCertificate && old.name != new.name : before.isDisjoint(with: after)
      else { return [] }
      let (was, becomes) = before.isEmpty ? (old.name, new.name) : (names(before), names(after))
      return [RenewalFinding(before.isEmpty ? .warn : .stop, .watched, ["old": was, "new": becomes])]
    }
    let unreached = Dictionary(grouping: uses.filter { !covers($0.bundleID) }, by: \.bundleID)
    if !unreached.isEmpty {
      return unreached.sorted { $0.key < $1.key }.map { bundleID, uses in
        stop(bundleID, uses.reduce(0) { $0 + $1.activeDevices })
      }
    }
    let (before, after) = (Set(old.topics.keys), Set(new.topics.keys))
    guard !before.isEmpty, !after.isEmpty else { return [] }
    if before.isDisjoint(with: after), let first = before.sorted().first { return [stop(first, 0)] }
    return lost(before, after)
  }

  /// Whether an app's pushes continue: on its own topic, or on one below it if the old file lacks the app's topic too.
  private func covers(_ bundleID: String) -> Bool {
    guard new.reaches(bundleID) else { return false }
    return old.kind == .apnsKey || old.topics[bundleID] == nil || new.topics.isEmpty || new.topics[bundleID] != nil
  }

  private func stop(_ topic: String, _ count: Int) -> RenewalFinding {
    RenewalFinding(.stop, .topic, ["topic": topic, "topics": names(Set(new.topics.keys)), "count": "\(count)"])
  }

  private func lost(_ before: Set<String>, _ after: Set<String>) -> [RenewalFinding] {
    before.sorted().compactMap { topic in
      guard let kinds = new.topics[topic] else { return RenewalFinding(.warn, .topicLost, ["topic": topic]) }
      // If one of the two does not list its push types, no loss is known.
      let gone = kinds.isEmpty ? [] : (old.topics[topic] ?? []).subtracting(kinds)
      return gone.isEmpty ? nil : RenewalFinding(.warn, .typesLost, ["topic": topic, "types": names(gone)])
    }
  }

  // MARK: Environments and dates

  private var environments: [RenewalFinding] {
    guard !new.environments.isEmpty else { return [] }
    let left = names(Set(new.environments.map(\.rawValue)))
    let used = uses.filter { !new.environments.contains($0.environment) }
    if !used.isEmpty {
      return used.map { use in
        RenewalFinding(
          .stop, .environmentUsed,
          [
            "app": use.bundleID, "environment": use.environment.rawValue, "environments": left,
            "count": "\(use.activeDevices)",
          ])
      }
    }
    return old.environments.subtracting(new.environments).map(\.rawValue).sorted().map {
      RenewalFinding(.warn, .environmentLost, ["environment": $0, "environments": left])
    }
  }

  private var dates: [RenewalFinding] {
    switch Expiry.band(notBefore: new.notBefore, notAfter: new.notAfter, now: now) {
    case .expired: return [RenewalFinding(.stop, .expired, ["date": new.notAfter?.day ?? "–"])]
    case .notYetValid:
      return [RenewalFinding(uses.isEmpty ? .warn : .stop, .notYet, ["date": new.notBefore?.day ?? "–"])]
    case .fine, .soon, .urgent, .neverExpires: break
    }
    guard let before = old.notAfter, let after = new.notAfter, after < before else { return [] }
    return [RenewalFinding(.warn, .earlier, ["old": before.day, "new": after.day])]
  }

  /// The warnings that the comparison does not give in words of its own.
  private var ofFile: [RenewalFinding] {
    warnings.filter { warning in
      switch warning {
      case .expired, .notYetValid, .noPrivateKey: false
      default: true
      }
    }.map { RenewalFinding($0) }
  }

  /// The findings of level `fine`.
  private var good: [RenewalFinding] {
    var good: [RenewalFinding] = []
    let sameTeam = old.teamID == nil || new.teamID == nil || old.teamID == new.teamID
    if new.isForPushes, sameTeam, Set(old.topics.keys).isSubset(of: new.topics.keys), !new.topics.isEmpty {
      good.append(RenewalFinding(.fine, .topicKept))
    }
    guard let after = new.notAfter else { return good + [RenewalFinding(.fine, .forever)] }
    if let before = old.notAfter, after >= before {
      let days = Int((after.timeIntervalSince(before) / 86_400).rounded(.down))
      good.append(RenewalFinding(.fine, .longer, ["date": after.day, "days": "\(days)"]))
    }
    return good
  }

  private func names(_ names: Set<String>) -> String { names.isEmpty ? "–" : names.sorted().joined(separator: ", ") }
}

extension String {
  fileprivate var spaced: String { replacing("_", with: " ") }
}

extension Date {
  /// For example `2026-11-20`, in UTC.
  fileprivate var day: String { formatted(.iso8601.year().month().day()) }
}
