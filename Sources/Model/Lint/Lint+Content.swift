import Foundation
import JSON

extension Lint {
  /// Push type, visibility, empty pushes, images, levels.
  static func content(_ draft: PushDraft, _ payload: APNsPayload) -> [Finding] {
    if AppName.isPassType(draft.app), [.alert, .background].contains(payload.pushType) {
      return passContent(draft, payload)
    }
    let facts = payload.facts
    let notification = draft.notification
    var findings: [Finding] = []
    if payload.pushType == .background {
      findings += background(draft, payload, facts)
    } else if let other = otherType(draft, payload) {
      findings.append(other)
    } else if payload.pushType == .alert, !facts.isVisible, draft.apns.payload == nil || violations(payload).isEmpty {
      findings.append(nothingToSee(draft))
    }
    if draft.apns.payload != nil {
      if notification != Notification() { findings.append(finding(.hint, "apns.payload", .payloadOverrides)) }
      return findings
    }
    if notification.image != nil, !notification.mutableContent {
      let fix = changing(draft) { $0.notification.mutableContent = true }
      findings.append(finding(.warning, "notification.image", .imageNotMutable, fix: fix))
    }
    if notification.interruptionLevel == .critical {
      findings.append(finding(.hint, "notification.interruption_level", .critical))
    }
    if notification.interruptionLevel == .passive, notification.sound != nil {
      let fix = changing(draft) { $0.notification.sound = nil }
      findings.append(finding(.hint, "notification.sound", .passiveSound, fix: fix))
    }
    return findings
  }

  /// Wallet reads nothing of a payload.
  private static func passContent(_ draft: PushDraft, _ payload: APNsPayload) -> [Finding] {
    guard payload.json != [:] else { return [] }
    let fix = changing(draft) { ($0.notification, $0.apns.payload) = (Notification(), nil) }
    return [finding(.warning, draft.apns.payload == nil ? "notification" : "apns.payload", .passContent, fix: fix)]
  }

  private static func background(_ draft: PushDraft, _ payload: APNsPayload, _ facts: APNsPayload.Facts) -> [Finding] {
    let raw = draft.apns.payload != nil
    let field = raw ? "apns.payload" : "notification"
    var findings: [Finding] = []
    if facts.isVisible {
      let keys = [("alert", facts.alert), ("badge", facts.badge), ("sound", facts.sound)]
        .filter(\.1).map(\.0).joined(separator: ", ")
      let fix = changing(draft) {
        $0.options.pushType = nil
        $0.apns.headers[APNsHeader.pushType] = nil
      }
      findings.append(finding(.error, field, .backgroundVisible, ["keys": keys], fix: fix))
    } else if !facts.contentAvailable {
      let fix = raw ? nil : changing(draft) { $0.notification.contentAvailable = true }
      findings.append(finding(.error, field, .backgroundNotAvailable, fix: fix))
    }
    if payload.priority == 10 {
      let fix = changing(draft) {
        $0.options.priority = .normal
        $0.apns.headers[APNsHeader.priority] = nil
      }
      findings.append(finding(.error, "options.priority", .backgroundPriority, fix: fix))
    }
    findings.append(finding(.hint, field, .backgroundOften))
    return findings
  }

  /// A payload for ActivityKit or WidgetKit that goes as another type: its topic would be the notifications'.
  private static func otherType(_ draft: PushDraft, _ payload: APNsPayload) -> Finding? {
    let aps = payload.json["aps"]
    let isActivity = aps?["content-state"] != nil || (aps?["event"] != nil && aps?["timestamp"] != nil)
    let types: [PushType] = isActivity ? [.liveactivity] : aps?["content-changed"] != nil ? [.widgets, .controls] : []
    guard draft.apns.payload != nil, !types.isEmpty, !types.contains(payload.pushType) else { return nil }
    let arguments = ["type": payload.pushType.rawValue, "types": types.map(\.rawValue).joined(separator: ", ")]
    // A reload may be meant for either.
    let fix =
      types.count > 1
      ? nil
      : changing(draft) {
        $0.options.pushType = types[0]
        $0.apns.headers[APNsHeader.pushType] = nil
      }
    return finding(.warning, "options.push_type", .otherType, arguments, fix: fix)
  }

  private static func nothingToSee(_ draft: PushDraft) -> Finding {
    if draft.apns.payload != nil { return finding(.warning, "apns.payload", .empty) }
    // The fix does not set a background type, which is derived from the payload.
    let fix = changing(draft) { $0.notification.contentAvailable = true }
    let message: LintMessage = draft.notification.extras.isEmpty ? .empty : .extrasOnly
    return finding(.error, "notification", message, fix: draft.notification.extras.isEmpty ? nil : fix)
  }

  /// The requirements of push types.
  static func delivery(_ draft: PushDraft, _ payload: APNsPayload) -> [Finding] {
    var findings: [Finding] = []
    if let mismatch = payload.topicMismatch {
      // Where no type is given, the topic may tell which one is meant.
      let isGiven = draft.options.pushType != nil || draft.apns.headers[APNsHeader.pushType] != nil
      let meant = PushType.allCases.first { !$0.topicSuffix.isEmpty && draft.app + $0.topicSuffix == payload.topic }
      let fix = changing(draft) {
        $0.apns.headers[APNsHeader.topic] = nil
        if !isGiven, let meant { $0.options.pushType = meant }
      }
      findings.append(Finding(severity: .warning, problem: mismatch, fix: fix))
    }
    switch payload.pushType {
    case .liveactivity: findings += liveActivity(draft, payload)
    case .controls, .widgets:
      // Without a payload, the other finding says so.
      if draft.apns.payload != nil, payload.json["aps"]?["content-changed"] == nil {
        let fix = changingPayload(draft) { _, aps in aps["content-changed"] = true }
        let arguments = ["type": payload.pushType.rawValue]
        findings.append(finding(.warning, "apns.payload", .contentChanged, arguments, fix: fix))
      }
      fallthrough
    case .mdm, .pushtotalk, .location, .fileprovider:
      if draft.apns.payload == nil {
        let arguments = ["type": payload.pushType.rawValue]
        findings.append(finding(.warning, "options.push_type", .specialNotRaw, arguments))
      } else if payload.pushType == .mdm, payload.json["mdm"]?.string?.isEmpty != false {
        findings.append(finding(.warning, "apns.payload", .managementMagic))
      }
    case .voip:
      if draft.apns.headers[APNsHeader.expiration] == nil, draft.options.timeToLive ?? .max > 60 {
        let fix = changing(draft) { $0.options.timeToLive = 0 }
        findings.append(finding(.hint, "options.time_to_live", .voipLate, fix: fix))
      }
    case .alert, .background, .complication: break
    }
    return findings
  }

  static func size(_ payload: APNsPayload) -> [Finding] {
    guard payload.body.count <= payload.limit, payload.body.count * 10 >= payload.limit * 9 else { return [] }
    let arguments = ["size": String(payload.body.count), "limit": String(payload.limit)]
    return [finding(.hint, "notification", .nearLimit, arguments)]
  }

  /// What FCM would refuse, and messages that do nothing.
  static func android(_ draft: PushDraft, _ context: Context) -> [Finding] {
    let message = FCMMessage(draft, uid: context.uid, signature: context.signature)
    var refusals = message.problems.map { Finding(severity: .error, problem: $0) } + otherPackage(draft, context)
    if refusals.isEmpty, !message.leftOut.isEmpty {
      let arguments = ["keys": message.leftOut.joined(separator: ", "), "limit": String(message.limit)]
      refusals.append(
        Finding(severity: .hint, problem: Problem("notification", FCMMessageProblem.noRoom, arguments)))
    }
    guard message.isEmpty else { return refusals + delay(draft) }
    return refusals + [finding(draft.platforms == [.android] ? .error : .warning, "notification", .androidEmpty)]
  }

  /// A message that FCM would refuse for the app's own devices.
  private static func otherPackage(_ draft: PushDraft, _ context: Context) -> [Finding] {
    let key = "restricted_package_name"
    guard let package = draft.android[key]?.string, let own = context.packageName, package != own else { return [] }
    let fix = changing(draft) { $0.android[key] = .string(own) }
    return [finding(.warning, "android.\(key)", .otherPackage, ["package": package, "own": own], fix: fix)]
  }

  /// A text that people should see, which Android may hold back.
  private static func delay(_ draft: PushDraft) -> [Finding] {
    guard draft.options.priority == .normal, draft.notification.title != nil || draft.notification.body != nil else {
      return []
    }
    return [finding(.hint, "options.priority", .androidPriority, fix: changing(draft) { $0.options.priority = .high })]
  }

  /// What FCM does not carry to iPhones: its token stands for that of the notifications alone.
  static func appleByFCM(_ draft: PushDraft, _ payload: APNsPayload, _ context: Context) -> [Finding] {
    guard context.fcm.contains(.ios), ![.alert, .background].contains(payload.pushType) else { return [] }
    let problem = Problem("options.push_type", FCMMessageProblem.pushType, ["type": payload.pushType.rawValue])
    return [Finding(severity: .warning, problem: problem)]
  }

  /// What JPush would refuse, and what it cannot carry.
  static func jpush(_ draft: PushDraft, _ context: Context) -> [Finding] {
    let message = JPushMessage(draft, uid: context.uid, signature: context.signature)
    var findings = message.problems.map { Finding(severity: .error, problem: $0) }
    guard draft.platforms.contains(.ios) else { return findings }
    let type = APNsPayload(draft).pushType
    if ![.alert, .background].contains(type) {
      let problem = Problem("options.push_type", JPushMessageProblem.pushType, ["type": type.rawValue])
      findings.append(Finding(severity: .warning, problem: problem))
    } else if !message.lost.isEmpty {
      let keys = message.lost.joined(separator: ", ")
      let problem = Problem("apns.payload", JPushMessageProblem.lost, ["keys": keys])
      findings.append(Finding(severity: .warning, problem: problem))
    }
    return findings
  }

  /// JSON in visible texts.
  static func texts(_ draft: PushDraft) -> [Finding] {
    let texts = [
      ("title", draft.notification.title), ("subtitle", draft.notification.subtitle),
      ("body", draft.notification.body),
    ]
    return texts.compactMap { name, text in
      guard let text = text?.trimmingCharacters(in: .whitespacesAndNewlines), let first = text.first,
        "{[".contains(first), let json = pasted(text)
      else { return nil }
      // A payload with aps is meant as one; for other JSON no place is obvious.
      let fix = json["aps"]?.object == nil ? nil : changing(draft) { $0.usePayload(json) }
      return finding(.warning, "notification.\(name)", .jsonAsText, fix: fix)
    }
  }

  private static func pasted(_ text: String) -> JSONValue? {
    // Invalid JSON is ordinary text that begins with a bracket.
    guard let json = try? JSONValue(parsing: Data(text.utf8)) else { return nil }
    return json.object?.isEmpty == false || json.array?.contains { $0.object != nil } == true ? json : nil
  }
}

extension PushDraft {
  fileprivate mutating func usePayload(_ payload: JSONValue) {
    notification = Notification()
    apns.payload = payload
  }
}
