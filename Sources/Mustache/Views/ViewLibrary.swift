/// A view with its own template.
public protocol TemplateView: View {
  /// The template's name, as `pushes/index`.
  static var template: String { get }
}

/// Templates bound to their views, in every language.
///
/// ```swift
/// let views = try ViewLibrary(templates, languages, frame: Frame.self, pages: [PushesPage.self], parts: [PushRow.self])
/// let html = views.page(PushesPage(…), frame, language: "en")
/// ```
public struct ViewLibrary<Frame: View>: Sendable {
  private var pages: [ObjectIdentifier: [String: Program]] = [:]
  private var parts: [ObjectIdentifier: [String: Program]] = [:]
  private let fallback: String

  /// Binds every view to its template.
  ///
  /// - Parameters:
  ///   - languages: the first replaces unknown ones
  ///   - pages: views whose templates may also use the frame's members
  ///   - parts: views whose templates stand alone, for answers that update a part of a page
  /// - Throws: ``TemplateError`` for the first unknown name or text.
  public init(
    _ templates: TemplateLibrary, _ languages: [ViewLanguage], frame: Frame.Type,
    pages: [any TemplateView.Type], parts: [any TemplateView.Type] = []
  ) throws(TemplateError) {
    fallback = languages.first?.code ?? ""
    let known = KnownMembers()
    for language in languages {
      for page in pages {
        self.pages[ObjectIdentifier(page), default: [:]][language.code] = try Binder.bind(
          page.template, templates, language, [Frame.self, page], known)
      }
      for part in parts {
        self.parts[ObjectIdentifier(part), default: [:]][language.code] = try Binder.bind(
          part.template, templates, language, [part], known)
      }
    }
  }

  /// Writes a whole page. An unbound view writes nothing.
  public func page<V: TemplateView>(_ view: V, _ frame: Frame, language: String, into output: inout Output) {
    guard let program = program(pages, V.self, language) else { return }
    output.language = language
    withUnsafePointer(to: frame) { frame in
      withUnsafePointer(to: view) { view in
        program.run([UnsafeRawPointer(frame), UnsafeRawPointer(view)], into: &output)
      }
    }
  }

  /// A part of a page.
  public func part<V: TemplateView>(_ view: V, language: String, into output: inout Output) {
    guard let program = program(parts, V.self, language) else { return }
    output.language = language
    withUnsafePointer(to: view) { program.run([UnsafeRawPointer($0)], into: &output) }
  }

  private func program(
    _ programs: [ObjectIdentifier: [String: Program]], _ view: any TemplateView.Type, _ language: String
  ) -> Program? {
    guard let languages = programs[ObjectIdentifier(view)] else {
      assertionFailure("\(view) was not bound")
      return nil
    }
    return languages[language] ?? languages[fallback]
  }
}
