import Model
import Store

extension Texts {
  /// What the repair of a finding changes in the form, as “Set Priority to 5”.
  func repair(of draft: PushDraft, to repaired: PushDraft) -> String {
    let (before, after) = (Form(draft), Form(repaired))
    var names: [String] = []
    for field in before.all + after.all where !names.contains(field.name) {
      if before.all(field.name) != after.all(field.name) { names.append(field.name) }
    }
    // Two changes are said; of more, the first ones stand for all.
    return phrases(names.prefix(2).map { change(of: $0, to: after.all($0)) }).capitalizedFirst
  }

  private func change(of name: String, to values: [String]) -> String {
    let label = known("send.\(name)") ?? name
    guard !values.isEmpty else { return self("send.fix_clear", ["field": label]) }
    let words = values.map { Platform(rawValue: $0).map { self("platform.\($0.rawValue)") } ?? $0 }
    let value = list(words)
    let isShort =
      value.count <= 40 && !value.contains("\n") && !["content_available", "mutable_content"].contains(name)
    return isShort ? self("send.fix_set", ["field": label, "value": value]) : self("send.fix_change", ["field": label])
  }
}
