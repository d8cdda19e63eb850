import Model
import Mustache

/// The source of a callback rule, with links to what sources disagree about and to notes, for
/// `pushes/_callback_origin`.
struct CallbackOrigin: View {
  let source: String
  let links: [LinkView]

  static let fields: [Field<Self>] = [.text("source") { $0.source }, .list("links") { $0.links }]
}

extension CallbackOrigin {
  /// Each source, contradiction and note counts once, however often it is named.
  init(
    _ sources: [CallbackTable.Source], _ contradictions: [CallbackContradiction], _ notes: [CallbackNote],
    _ texts: Texts
  ) {
    let sources = Set(sources)
    let guides = sources.subtracting([.apple]).count
    let names = [
      sources.contains(.apple) ? texts("callbacks.apple") : nil,
      guides > 0 ? texts("callbacks.guides", count: guides) : nil,
    ].compactMap(\.self)
    source = texts.labelled(texts("callbacks.source"), texts.list(names))
    links =
      Self.links(CallbackContradiction.allCases.filter { contradictions.contains($0) }.map(\.name), "disputed", texts)
      + Self.links(CallbackNote.allCases.filter { notes.contains($0) }.map(\.name), "note", texts)
  }

  /// Of Android's callbacks, docs/protocols.md §5.1.
  init(firebase texts: Texts) {
    self.init(source: texts.labelled(texts("callbacks.source"), texts("callbacks.firebase")), links: [])
  }

  /// The first link has a word before its name: “sources disagree (C6)”, “C10”.
  private static func links(_ names: [String], _ word: String, _ texts: Texts) -> [LinkView] {
    names.enumerated().map { index, name in
      LinkView(
        href: "\(CallbacksPage.path)#\(name)", label: index == 0 ? texts.noted(texts("callbacks.\(word)"), name) : name)
    }
  }
}
