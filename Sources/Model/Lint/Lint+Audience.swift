import Foundation

extension Lint {
  /// Aliases, tags and tokens; large audiences.
  static func audience(_ draft: PushDraft, _ context: Context) -> [Finding] {
    if let subscribers = draft.audience.subscribers {
      return subscribers == .topic ? topic(draft) : channel(draft, context.channel)
    }
    guard case .rule(let rule) = draft.audience else {
      return draft.environment == .production ? [finding(.hint, "audience", .broadcastProduction)] : []
    }
    var findings = names(draft, rule, context.aliasRule)
    findings += tokens(rule)
    findings += missing(draft, rule, context.missingTags) + aliases(draft, rule, context)
    findings += segments(draft, rule, context.missingSegments)
    var excluding = rule
    excluding.tagNot = []
    if excluding.isEmpty { findings.append(finding(.hint, "audience.tag_not", .onlyExclusions)) }
    return findings
  }

  private static func channel(_ draft: PushDraft, _ known: KnownChannel?) -> [Finding] {
    func found(_ severity: Severity, _ message: ChannelMessage) -> Finding {
      Finding(severity: severity, problem: Problem("audience.channel", message))
    }
    var findings: [Finding] = []
    if !draft.platforms.contains(.ios) {
      let fix = changing(draft) { $0.platforms = [.ios] }
      findings.append(Finding(severity: .error, problem: Problem("platforms", ChannelMessage.platforms), fix: fix))
    }
    switch known {
    case .exists(let policy)?: if policy == .storesNothing { findings += storage(draft) }
    case .elsewhere?: findings.append(found(.error, .elsewhere))
    case .gone?: findings.append(found(.warning, .gone))
    case .unknown?: findings.append(found(.warning, .unknown))
    case nil: break
    }
    return findings
  }

  /// A channel that stores no messages takes an expiration of 0 only (docs/protocols.md §1.8).
  private static func storage(_ draft: PushDraft) -> [Finding] {
    let header = draft.apns.headers[APNsHeader.expiration]
    guard let value = header ?? draft.options.timeToLive.map({ String($0) }), value != "0" else { return [] }
    let fix = changing(draft) {
      $0.options.timeToLive = nil
      $0.apns.headers[APNsHeader.expiration] = nil
    }
    let field = header == nil ? "options.time_to_live" : "apns.headers.\(APNsHeader.expiration)"
    return [Finding(severity: .error, problem: Problem(field, ChannelMessage.storesNothing), fix: fix)]
  }

  private static func topic(_ draft: PushDraft) -> [Finding] {
    var findings: [Finding] = []
    if draft.platforms != [.android] {
      let fix = changing(draft) { $0.platforms = [.android] }
      findings.append(Finding(severity: .error, problem: Problem("platforms", TopicMessage.platforms), fix: fix))
    }
    if draft.notification.badge?.isRelative == true {
      findings.append(Finding(severity: .error, problem: Problem("notification.badge", TopicMessage.badge)))
    }
    return findings
  }

  private static func names(_ draft: PushDraft, _ rule: Audience.Rule, _ names: AliasRule) -> [Finding] {
    guard names == .jpush else { return [] }
    // The fix corrects every alias, so that only the first finding offers it.
    let fix = changing(draft) {
      var rule = rule
      rule.alias = rule.alias.map { names.suggestion(for: $0) ?? $0 }
      $0.audience = .rule(rule)
    }
    let tags = [("tag", rule.tag), ("tag_and", rule.tagAnd), ("tag_not", rule.tagNot)].flatMap { kind, tags in
      TagRule.problems(with: tags, rule: names).map {
        Finding(severity: .error, problem: $0.under("audience.\(kind)"), fix: nil)
      }
    }
    let aliases = rule.alias.enumerated().compactMap { index, alias -> Finding? in
      guard let problem = names.problem(with: alias) else { return nil }
      let field = "audience.alias[\(index)]"
      guard let form = names.suggestion(for: alias) else {
        return Finding(severity: .error, problem: problem.under(field), fix: nil)
      }
      let result = String(AliasRule.resultCode(for: alias).rawValue)
      return finding(.error, field, .aliasForm, ["alias": alias, "result": result, "form": form], fix: fix)
    }
    return tags + aliases
  }

  private static func missing(_ draft: PushDraft, _ rule: Audience.Rule, _ missing: [String: String?]) -> [Finding] {
    let kinds: [(name: String, tags: WritableKeyPath<Audience.Rule, [String]>)] = [
      ("tag", \.tag), ("tag_and", \.tagAnd), ("tag_not", \.tagNot),
    ]
    return kinds.flatMap { kind in
      rule[keyPath: kind.tags].enumerated().compactMap { index, tag -> Finding? in
        guard let known = missing[tag] else { return nil }
        let field = "audience.\(kind.name)[\(index)]"
        guard let similar = known else { return finding(.warning, field, .noTag, ["tag": tag]) }
        let fix = changing(draft) {
          var rule = rule
          rule[keyPath: kind.tags][index] = similar
          $0.audience = .rule(rule)
        }
        return finding(.warning, field, .noTagSimilar, ["tag": tag, "similar": similar], fix: fix)
      }
    }
  }

  private static func aliases(_ draft: PushDraft, _ rule: Audience.Rule, _ context: Context) -> [Finding] {
    rule.alias.enumerated().compactMap { index, alias in
      // Where the alias itself must be corrected, its corrected form is the one proposal.
      guard let known = context.missingAliases[alias], context.aliasRule.suggestion(for: alias) == nil
      else { return nil }
      let field = "audience.alias[\(index)]"
      guard let similar = known else { return finding(.warning, field, .noAlias, ["alias": alias]) }
      let fix = changing(draft) {
        var rule = rule
        rule.alias[index] = similar
        $0.audience = .rule(rule)
      }
      return finding(.warning, field, .noAliasSimilar, ["alias": alias, "similar": similar], fix: fix)
    }
  }

  private static func segments(_ draft: PushDraft, _ rule: Audience.Rule, _ missing: [String: String?]) -> [Finding] {
    rule.segment.enumerated().compactMap { index, name in
      guard let known = missing[name] else { return nil }
      let field = "audience.segment[\(index)]"
      guard let similar = known else {
        return Finding(severity: .error, problem: Problem(field, SegmentMessage.missing, ["segment": name]))
      }
      let problem = Problem(field, SegmentMessage.missingSimilar, ["segment": name, "similar": similar])
      let fix = changing(draft) {
        var rule = rule
        rule.segment[index] = similar
        $0.audience = .rule(rule)
      }
      return Finding(severity: .error, problem: problem, fix: fix)
    }
  }

  /// PushKit, ActivityKit and the like give an app tokens of their own, and devices are registered with the one that
  /// notifications go to. A credential that sends no alerts has none of these.
  static func ownTokens(_ draft: PushDraft, _ payload: APNsPayload, _ context: Context) -> [Finding] {
    if payload.pushType.receiver == nil || payload.channel != nil || AppName.isDeviceManagement(draft.app) { return [] }
    if case .rule(let rule) = draft.audience, !rule.deviceToken.isEmpty { return [] }
    if let scope = context.credential, !scope.sends(.alert, to: draft.app) { return [] }
    return [finding(.warning, "audience", .ownTokens, ["type": payload.pushType.rawValue])]
  }

  private static func tokens(_ rule: Audience.Rule) -> [Finding] {
    rule.deviceToken.enumerated().compactMap { index, token in
      let field = "audience.device_token[\(index)]"
      // The result of dropping the non-hexadecimal characters of "{length = 32, bytes = 0x": e, 32, b, e, 0.
      if token.hexadecimal.hasPrefix("e32be0") {
        return finding(.warning, field, .tokenLossy, ["remedy": TokenMessage.remedy])
      }
      guard token.text == token.hexadecimal, token.bytes.count != 32 else { return nil }
      return finding(.hint, field, .tokenLength, ["count": String(token.bytes.count)])
    }
  }
}

extension Lint {
  /// Pushes that the app's key or certificate may not send: APNs would refuse each of them (`TopicDisallowed`,
  /// `BadCertificateEnvironment` and similar).
  static func credential(_ draft: PushDraft, _ payload: APNsPayload, _ context: Context) -> [Finding] {
    guard payload.channel == nil, let scope = context.credential, !scope.sends(payload.pushType, to: payload.topic)
    else { return [] }
    let types = scope.types(for: draft.app)
    let fix =
      types.contains(.alert) && draft.options.pushType != nil
      ? changing(draft) {
        $0.options.pushType = nil
        $0.apns.headers[APNsHeader.pushType] = nil
        $0.apns.headers[APNsHeader.topic] = nil
      } : nil
    let message: LintMessage =
      switch payload.pushType {
      case .mdm where scope.topics == nil: .credentialIsKey
      case .location where scope.topics != nil: .credentialIsCertificate
      default: .credentialTopic
      }
    let arguments = [
      "name": scope.name, "type": payload.pushType.rawValue, "topic": payload.topic ?? "–",
      "types": types.isEmpty ? "none" : types.map(\.rawValue).joined(separator: ", "),
      "topics": scope.topics?.sorted().joined(separator: ", ") ?? "–",
    ]
    return [finding(.error, "options.push_type", message, arguments, fix: fix)]
  }
}
