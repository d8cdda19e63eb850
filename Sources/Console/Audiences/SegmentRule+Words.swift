import Model
import Store

extension AudienceStep {
  /// As “tagged vip”, of a part of a rule or of a step.
  func words(_ texts: Texts, app: String = "") -> String {
    let shown: [String] =
      switch kind {
      case .environment, .credential: names.map { texts("words.\($0)") }
      case .platforms: names.map { texts("platform.\($0)") }
      default: names
      }
    // Long lists of names are counted.
    let list = shown.count <= 3 ? texts.list(shown) : texts("segments.names", count: shown.count)
    // Any of one tag is that tag.
    let word = kind == .tag && names.count == 1 ? AudienceStep.Kind.tagAnd : kind
    let key = "segments.step.\(word.rawValue)"
    let text =
      switch kind {
      case .seenWithin, .seenOver: texts(key, count: names.first.flatMap { Int($0) } ?? 0)
      default: texts(key, ["names": list, "app": app])
      }
    guard let segment, kind != .segment else { return text }
    return texts("segments.of", ["segment": segment, "part": text])
  }
}

extension SegmentRule {
  /// The parts that the rule has, as an audience explains them.
  private var steps: [AudienceStep] {
    var steps: [AudienceStep] = []
    func add(_ kind: AudienceStep.Kind, _ names: [String]) {
      if !names.isEmpty { steps.append(AudienceStep(kind: kind, names: names)) }
    }
    add(.environment, environment.map { [$0.rawValue] } ?? [])
    add(.platforms, Platform.allCases.filter(platforms.contains).map(\.rawValue))
    for name in tagAnd { add(.tagAnd, [name]) }
    add(.tag, tag)
    add(.tagNot, tagNot)
    add(.aliasForm, alias.map { [$0] } ?? [])
    add(.appVersion, versionNames)
    add(.timeZone, timeZone)
    add(.language, language)
    switch lastSeen {
    case .within(let days): add(.seenWithin, [String(days)])
    case .over(let days): add(.seenOver, [String(days)])
    case nil: break
    }
    return steps
  }

  /// As “iOS, app version < 4.0”.
  func words(_ texts: Texts) -> String {
    steps.map { $0.words(texts) }.joined(separator: texts("audience.and"))
  }
}
