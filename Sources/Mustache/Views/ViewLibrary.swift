/// A view that has a template of its own.
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
  ///   - languages: the first stands in for those that are not there
  ///   - pages: views whose templates may use the frame's members too
  ///   - parts: views whose templates stand alone, for answers that renew a part of a page
  /// - Throws: ``TemplateError`` for the first name or text that is not there.
  public init(
    _ templates: TemplateLibrary, _ languages: [ViewLanguage], frame: Frame.Type,
    pages: [any TemplateView.Type], parts: [any TemplateView.Type] = []
  ) throws(TemplateError) {
    fallback = languages.first?.code ?? ""
    let frame = Members(Frame.self)
    for language in languages {
      for page in pages {
        self.pages[ObjectIdentifier(page), default: [:]][language.code] = try Binder.bind(
          page.template, templates, language, [frame, Members(page)])
      }
      for part in parts {
        self.parts[ObjectIdentifier(part), default: [:]][language.code] = try Binder.bind(
          part.template, templates, language, [Members(part)])
      }
    }
  }

  /// A whole page. A view that was not bound gives an empty one.
  public func page<V: TemplateView>(_ view: V, _ frame: Frame, language: String, into output: inout Output) {
    guard let program = program(pages, V.self, language) else { return }
    withUnsafePointer(to: frame) { frame in
      withUnsafePointer(to: view) { view in
        program.run([UnsafeRawPointer(frame), UnsafeRawPointer(view)], into: &output)
      }
    }
  }

  /// A part of a page.
  public func part<V: TemplateView>(_ view: V, language: String, into output: inout Output) {
    guard let program = program(parts, V.self, language) else { return }
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
