import Foundation

extension Lint {
  /// Aliases, tags and tokens; the great audiences.
  static func audience(_ draft: PushDraft, _ context: Context) -> [Finding] {
    guard case .rule(let rule) = draft.audience else {
      return draft.environment == .production ? [finding(.hint, "audience", .broadcastProduction)] : []
    }
    var findings = names(draft, rule, context.aliasRule)
    findings += tokens(rule)
    var excluding = rule
    excluding.tagNot = []
    if excluding.isEmpty { findings.append(finding(.hint, "audience.tag_not", .onlyExclusions)) }
    return findings
  }

  private static func names(_ draft: PushDraft, _ rule: Audience.Rule, _ names: AliasRule) -> [Finding] {
    guard names == .jpush else { return [] }
    // One button puts every alias right: after the first, the others would be the same step again.
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

  private static func tokens(_ rule: Audience.Rule) -> [Finding] {
    rule.deviceToken.enumerated().compactMap { index, token in
      let field = "audience.device_token[\(index)]"
      // What a program that only drops non-hexadecimal characters makes of "{length = 32, bytes = 0x": e, 32, b, e, 0.
      if token.hexadecimal.hasPrefix("e32be0") {
        return finding(.warning, field, .tokenLossy, ["remedy": TokenMessage.remedy])
      }
      guard token.text == token.hexadecimal, token.bytes.count != 32 else { return nil }
      return finding(.hint, field, .tokenLength, ["count": String(token.bytes.count)])
    }
  }
}
