import Foundation
import JSON
import Model
import Mustache
import Store

/// What speaks for the cause of an incident, for `incidents/_evidence`: each line a fact of our own.
struct IncidentEvidenceView: View {
  struct Line: View {
    let text: String
    var detail = ""
    /// When it was.
    var at: MomentView?

    static let fields: [Field<Self>] = [
      .text("text") { $0.text },
      .text("detail") { $0.detail },
      .view("at") { $0.at },
    ]
  }

  let lines: [Line]

  static let fields: [Field<Self>] = [.list("lines") { $0.lines }]

  /// Nil: nothing is known.
  init?(_ found: IncidentEvidence, _ words: IncidentWords) {
    lines =
      Self.devices(found, words)
      + [found.credential.map { Self.credential($0, words) }].compactMap { $0 }
    if lines.isEmpty { return nil }
  }

  private static func devices(_ found: IncidentEvidence, _ words: IncidentWords) -> [Line] {
    guard found.parked > 0, let dates = found.registered else { return [] }
    let (texts, environment) = (words.texts, words.incident.place.environment)
    let all = found.parked.grouped
    func environments(_ number: Int) -> [String: String] {
      [
        "number": number.grouped, "all": all, "environment": environment.word(texts),
        "other": environment.other.word(texts),
      ]
    }
    // An import in parts takes a while; whatever takes longer is the apps' own registrations.
    let together = dates.upperBound.timeIntervalSince(dates.lowerBound) <= IncidentEvidence.importTime
    let registered =
      together
      ? Line(
        text: texts("incidents.proof.together", count: found.parked),
        detail: found.imported.map { imported($0, texts) } ?? "",
        at: MomentView(date: dates.lowerBound, now: words.now))
      : Line(
        text: texts("incidents.proof.apart", count: found.parked),
        detail: texts(
          "incidents.proof.between", ["first": texts.minute(dates.lowerBound), "last": texts.minute(dates.upperBound)]))
    let accepted = Line(
      text: found.accepted == 0
        ? texts("incidents.proof.never", environments(0))
        : texts("incidents.proof.once", environments(found.accepted)))
    let proven = found.proven.map { number in
      Line(
        text: number == 0
          ? texts("incidents.proof.unknown", environments(0)) : texts("incidents.proof.known", environments(number)))
    }
    return [registered, accepted] + [proven].compactMap { $0 }
  }

  private static func imported(_ entry: AuditEntry, _ texts: Texts) -> String {
    func number(_ name: String) -> String { (entry.entry.detail?[name]?.integer.map { Int($0) } ?? 0).grouped }
    return texts(
      "incidents.proof.imported",
      [
        "name": ActivityActor(entry.entry.actor).name(texts), "added": number("added"), "updated": number("updated"),
      ])
  }

  private static func credential(_ credential: Credential, _ words: IncidentWords) -> Line {
    let (texts, now) = (words.texts, words.now)
    let name = credential.certificateName ?? texts("incidents.proof.credential")
    let provider = ["provider": credential.provider.name, "name": name]
    let last = credential.lastAcceptedAt.map { MomentView(date: $0, now: now) }
    switch credential.health {
    case .unused: return Line(text: texts("incidents.proof.unused", provider), detail: name)
    case .accepted: return Line(text: texts("incidents.proof.accepted", provider), detail: name, at: last)
    case .refused:
      let accepted = credential.lastAcceptedAt.map { texts("incidents.proof.before", ["date": texts.minute($0)]) }
      return Line(
        text: texts("incidents.proof.refused", provider.merging(["reason": credential.lastRefusal ?? ""]) { $1 }),
        detail: texts.phrases([name] + [accepted].compactMap { $0 }),
        at: credential.lastRefusedAt.map { MomentView(date: $0, now: now) })
    }
  }
}
