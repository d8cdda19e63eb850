import Foundation

/// The templates of a folder, compiled, by name.
///
/// ```swift
/// let library = try TemplateLibrary(directory: "Templates", missingKey: .error)
/// let page = try library.render("pushes/show", ["title": "Hello"])
/// ```
public struct TemplateLibrary: Sendable {
  /// The handling of values that the data does not have.
  public enum MissingKey: Sendable {
    /// Writes nothing, as the Mustache specification says, also for unknown templates.
    case empty
    /// Rendering fails with key, file, line and column. Null is not missing.
    case error
  }

  struct Template: Sendable {
    let nodes: [Node]
  }

  /// What happens when a template asks for a value that the data does not have.
  public let missingKey: MissingKey
  private(set) var templates: [String: Template] = [:]

  /// Compiles templates given by name.
  ///
  /// - Throws: ``TemplateError`` for the first that cannot be compiled, and with `missingKey` `error` for a reference
  /// to an unknown template.
  public init(sources: [String: String], missingKey: MissingKey = .empty) throws {
    self.missingKey = missingKey
    for (name, source) in sources.sorted(by: { $0.key < $1.key }) {
      templates[name] = Template(nodes: try Parser.parse(source, name: name))
    }
    if missingKey == .error {
      for name in templates.keys.sorted() { try checkReferences(templates[name]?.nodes ?? []) }
    }
  }

  /// Compiles every `*.mustache` file below a folder; its name is the path without the extension.
  ///
  /// - Throws: ``TemplateError``; the errors of reading the files.
  public init(directory: String, missingKey: MissingKey = .empty) throws {
    var sources: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: directory) where path.hasSuffix(".mustache") {
      sources[String(path.dropLast(9))] = try String(contentsOfFile: "\(directory)/\(path)", encoding: .utf8)
    }
    try self.init(sources: sources, missingKey: missingKey)
  }

  /// - Throws: ``TemplateError`` if there is no such template, a value is missing (see ``MissingKey``), or templates
  /// are nested endlessly.
  public func render(_ name: String, _ value: Value) throws(TemplateError) -> String {
    String(decoding: try renderBytes(name, value), as: UTF8.self)
  }

  /// As ``render(_:_:)``, in UTF-8.
  public func renderBytes(_ name: String, _ value: Value) throws(TemplateError) -> [UInt8] {
    guard let template = templates[name] else {
      throw TemplateError("there is no such template", in: name, source: [], at: 0)
    }
    return try Renderer.render(template.nodes, value, self)
  }

  private func checkReferences(_ nodes: [Node]) throws(TemplateError) {
    for node in nodes {
      switch node {
      case .text, .variable: break
      case .section(let section): try checkReferences(section.nodes)
      case .block(let block): try checkReferences(block.nodes)
      case .partial(let reference): try check(reference)
      case .parent(let reference, let blocks):
        try check(reference)
        for block in blocks { try checkReferences(block.nodes) }
      }
    }
  }

  private func check(_ reference: Node.Reference) throws(TemplateError) {
    guard case .fixed(let name) = reference.target, templates[name] == nil else { return }
    throw TemplateError("there is no template “\(name)”", at: reference.place)
  }
}
