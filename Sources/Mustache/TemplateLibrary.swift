import Foundation

/// The templates of a folder, compiled, by name.
///
/// ```swift
/// let library = try TemplateLibrary(directory: "Templates", missingKey: .error)
/// let page = try library.render("pushes/show", ["title": "Hello"])
/// ```
public struct TemplateLibrary: Sendable {
  /// What happens when a template asks for a value that the data does not have.
  public enum MissingKey: Sendable {
    /// Nothing is written, as the Mustache specification has it. Unknown templates are empty too.
    case empty
    /// Rendering fails and names key, file, line and column. Null is not missing.
    case error
  }

  struct Template: Sendable {
    let nodes: [Node]
  }

  /// What happens when a template asks for a value that the data does not have.
  public let missingKey: MissingKey
  private(set) var templates: [String: Template] = [:]

  /// Compiles templates given as text, by name.
  ///
  /// - Throws: ``TemplateError`` for the first that cannot be compiled, and for a reference to a template that is not
  ///   there if `missingKey` is `error`.
  public init(sources: [String: String], missingKey: MissingKey = .empty) throws {
    self.missingKey = missingKey
    for (name, source) in sources.sorted(by: { $0.key < $1.key }) {
      templates[name] = Template(nodes: try Parser.parse(source, name: name))
    }
    if missingKey == .error {
      for name in templates.keys.sorted() { try checkReferences(templates[name]?.nodes ?? []) }
    }
  }

  /// Compiles every `*.mustache` file below a folder; its name is its path without the extension.
  ///
  /// - Throws: ``TemplateError``, or what reading the files throws.
  public init(directory: String, missingKey: MissingKey = .empty) throws {
    var sources: [String: String] = [:]
    for path in try FileManager.default.subpathsOfDirectory(atPath: directory) where path.hasSuffix(".mustache") {
      sources[String(path.dropLast(9))] = try String(contentsOfFile: "\(directory)/\(path)", encoding: .utf8)
    }
    try self.init(sources: sources, missingKey: missingKey)
  }

  /// The names, sorted.
  public var names: [String] { templates.keys.sorted() }

  /// Fills a template.
  ///
  /// - Throws: ``TemplateError`` if there is no such template, a value is missing (see ``MissingKey``), or templates
  ///   stand endlessly within each other.
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

  /// The names of all values that a template, its partials and its parents ask for.
  public func keys(of name: String) -> Set<String> {
    var keys: Set<String> = []
    var seen: Set<String> = []
    collect(name, &keys, &seen)
    return keys
  }

  private func collect(_ name: String, _ keys: inout Set<String>, _ seen: inout Set<String>) {
    guard seen.insert(name).inserted, let template = templates[name] else { return }
    collect(template.nodes, &keys, &seen)
  }

  private func collect(_ nodes: [Node], _ keys: inout Set<String>, _ seen: inout Set<String>) {
    for node in nodes {
      switch node {
      case .text: break
      case .variable(let name, _, _): keys.insert(name.text)
      case .section(let section):
        keys.insert(section.name.text)
        collect(section.nodes, &keys, &seen)
      case .block(let block): collect(block.nodes, &keys, &seen)
      case .partial(let reference): collect(reference, &keys, &seen)
      case .parent(let reference, let blocks):
        collect(reference, &keys, &seen)
        for block in blocks { collect(block.nodes, &keys, &seen) }
      }
    }
  }

  private func collect(_ reference: Node.Reference, _ keys: inout Set<String>, _ seen: inout Set<String>) {
    switch reference.target {
    case .fixed(let name): collect(name, &keys, &seen)
    case .dynamic(let name): keys.insert(name.text)
    }
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
