import Calendar
import Foundation
import JSON
import Model
import Testing

@Suite("Limits of keys and certificates")
struct CredentialScopeTests {
  @Test("push types follow from the topics in the certificate's list", arguments: table)
  func types(topics: [String]?, expected: [PushType]) {
    #expect(CredentialScope(name: "c", topics: topics).types(for: "com.x") == expected)
  }

  static let table: [([String]?, [PushType])] = [
    (nil, PushType.allCases.filter { $0 != .mdm }),
    (["com.x"], [.alert, .background]), (["com.x.voip"], [.voip]), ([], []), (["com.y"], []),
    (["com.x", "com.x.voip", "com.x.complication"], [.alert, .background, .voip, .complication]),
    (
      ["com.x.push-type.liveactivity", "com.x.push-type.widgets", "com.x.push-type.controls"],
      [.liveactivity, .controls, .widgets]
    ),
    (["com.x.voip-ptt"], [.pushtotalk]), (["com.x.pushkit.fileprovider"], [.fileprovider]),
    (["com.x.location-query"], []), (["com.apple.mgmt.External.7C5B"], [.mdm]),
  ]

  private func codes(_ draft: PushDraft, _ scope: CredentialScope?) -> [String] {
    Lint.findings(in: draft, Lint.Context(credential: scope)).filter { $0.severity == .error }.map(\.problem.code)
  }

  private func draft(_ change: (inout PushDraft) -> Void = { _ in }) throws -> PushDraft {
    let json: JSONValue = [
      "app": "com.x", "environment": "development", "platforms": ["ios"], "audience": "all",
      "notification": ["body": "Hello"],
    ]
    var draft = try PushDraft(json: json)
    change(&draft)
    return draft
  }

  @Test(
    "an app that is the topic of passes or device management sends what its certificate is for",
    arguments: [
      ("com.apple.mgmt.External.7C5B", ["com.apple.mgmt.External.7C5B"], [PushType.mdm]),
      ("com.apple.mgmt.External.7C5B", ["com.apple.mgmt.External.9999"], []),
      ("pass.com.x", ["pass.com.x"], [.alert, .background]),
    ])
  func ownTopics(app: String, topics: [String], expected: [PushType]) {
    #expect(CredentialScope(name: "c", topics: topics).types(for: app) == expected)
  }

  @Test(
    "device management and passes have topic, type and payload of their own, and the checks know them",
    arguments: [
      (["app": "com.apple.mgmt.External.7C5B", "apns": ["payload": ["mdm": "MAGIC"]]], []),
      (["app": "com.apple.mgmt.External.7C5B", "apns": ["payload": ["mdm": ""]]], ["lint.management_magic"]),
      (["app": "com.apple.mgmt.External.7C5B", "apns": ["payload": ["a": 1]]], ["lint.management_magic"]),
      (
        ["app": "com.apple.mgmt.External.7C5B", "notification": ["body": "Hello"]],
        ["lint.special_without_payload"]
      ),
      (["app": "pass.com.x"], []), (["app": "pass.com.x", "apns": ["payload": [:]]], []),
      (["app": "pass.com.x", "notification": [:]], []),
      (["app": "pass.com.x", "options": ["push_type": "background"]], []),
      (["app": "pass.com.x", "notification": ["body": "Hello"]], ["lint.pass_content"]),
      (["app": "pass.com.x", "apns": ["payload": ["aps": ["alert": "Hello"]]]], ["lint.pass_content"]),
    ] as [(JSONValue, [String])])
  func special(members: JSONValue, codes: [String]) throws {
    var json = members.object ?? [:]
    (json["environment"], json["platforms"], json["audience"]) = ("production", ["ios"], "all")
    let draft = try PushDraft(json: .object(json))
    let payload = APNsPayload(draft, uid: "push-1", signature: "signature")
    #expect(payload.topic == draft.app && payload.pushType == draft.pushType)
    #expect((payload.pushType == .mdm) == draft.app.hasPrefix("com.apple."))
    let scope = CredentialScope(name: "c", topics: [draft.app])
    let findings = Lint.findings(in: draft, Lint.Context(credential: scope))
    #expect(findings.filter { $0.severity != .hint }.map(\.problem.code) == codes)
    guard draft.app.hasPrefix("pass.") else { return }
    #expect(findings.first?.fix.map { APNsPayload($0).json } ?? payload.json == [:])
  }

  @Test("what it may not send is an error that names it; what it may, a key, or nothing known is none")
  func lint() throws {
    let push = CredentialScope(name: "Push", topics: ["com.x"])
    let voip = CredentialScope(name: "VoIP", topics: ["com.x.voip"])
    #expect(try codes(draft(), push) == [] && codes(draft(), nil) == [])
    #expect(try codes(draft(), CredentialScope(name: "Key", topics: nil)) == [])
    #expect(try codes(draft(), voip) == ["lint.credential_topic"])
    #expect(try codes(draft { $0.options.pushType = .voip }, voip) == [])
    #expect(try codes(draft { $0.options.pushType = .voip }, push) == ["lint.credential_topic"])
    #expect(try codes(draft { $0.options.pushType = .location }, push) == ["lint.credential_is_certificate"])
    #expect(try codes(draft { $0.platforms = [.android] }, voip) == [])
  }

  @Test("a push type that the certificate lacks is put right by taking it off, where an alert may be sent")
  func fix() throws {
    let push = CredentialScope(name: "Push", topics: ["com.x"])
    let wrong = try draft { $0.options.pushType = .voip }
    let finding = try #require(
      Lint.findings(in: wrong, Lint.Context(credential: push)).first { $0.problem.code == "lint.credential_topic" })
    #expect(finding.fix?.options.pushType == nil && finding.fix != nil)
    #expect(finding.problem.text.contains("com.x.voip") && finding.problem.text.contains("alert, background"))
    let voip = CredentialScope(name: "VoIP", topics: ["com.x.voip"])
    #expect(try Lint.findings(in: draft(), Lint.Context(credential: voip)).first?.fix == nil)
  }

  @Test(
    "what repeats is warned of if its very first time is after the end, or it has an end of its own, or the end is near",
    arguments: [
      (100.0, 101.0, nil, nil, "lint.credential_ends"), (100, 99, nil, nil, nil), (100, nil, nil, nil, nil),
      (100, nil, 102, nil, "lint.credential_ends_between"), (100, nil, nil, 100, nil),
      (100, nil, nil, 101, "lint.credential_ends_between"), (29, nil, nil, nil, "lint.credential_ends_between"),
      (31, nil, nil, nil, nil), (-1, nil, nil, nil, "lint.credential_ends"), (-1, nil, nil, 0, nil),
    ] as [(Double, Double?, Int?, Double?, String?)])
  func repeatedEnds(ends: Double, starts: Double?, count: Int?, until: Double?, expected: String?) throws {
    let now = Date(timeIntervalSince1970: 1_000_000)
    func days(_ count: Double) -> Date { now.addingTimeInterval(count * 86_400) }
    let second = Int(now.timeIntervalSince1970) % 86_400
    // Its time of day is the minute after that of the end.
    var rule = RepeatRule(.daily, minute: second / 60 + 1, zone: .utc)
    (rule.count, rule.until) = (count, until.map { days($0) })
    let draft = try draft {
      $0.recurrence = rule
      $0.sendAt = starts.map(days)
    }
    let scope = CredentialScope(name: "Push", topics: ["com.x"], notAfter: days(ends))
    let found = Lint.findings(in: draft, Lint.Context(now: now, credential: scope)).filter {
      $0.problem.code.hasPrefix("lint.credential_ends")
    }
    #expect(found.map(\.problem.code) == [expected].compactMap { $0 })
    #expect(found.allSatisfy { $0.severity == .warning && $0.problem.field == "repeat" })
    if expected == "lint.credential_ends_between" {
      #expect(found.first?.problem.text.contains(Timestamp.text(days(ends + 0.1)).prefix(10)) == true)
    }
  }

  @Test("a push that is sent after its certificate's last second is warned of; now, on that second or to Android not")
  func ends() throws {
    let ends = Date(timeIntervalSince1970: 1_000_000)
    let scope = CredentialScope(name: "Push", topics: ["com.x"], notAfter: ends)
    func warned(_ seconds: Double?, _ scope: CredentialScope?, _ platforms: Set<Platform> = [.ios]) throws -> Bool {
      var draft = try draft()
      draft.platforms = platforms
      draft.sendAt = seconds.map { ends.addingTimeInterval($0) }
      return Lint.findings(in: draft, Lint.Context(credential: scope)).contains {
        $0.problem.code == "lint.credential_ends" && $0.problem.field == "send_at" && $0.severity == .warning
      }
    }
    #expect(try warned(1, scope) && warned(86_400, scope, [.ios, .android]))
    #expect(try !warned(0.9, scope) && !warned(nil, scope) && !warned(1, scope, [.android]) && !warned(1, nil))
    #expect(try !warned(1, CredentialScope(name: "Key", topics: nil)))
  }
}
