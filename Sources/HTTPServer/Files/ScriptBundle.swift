/// The ES modules of one folder, joined so that a page asks for one file in place of many: each answer costs some 400
/// bytes of fields, and a module is not asked for before the one that imports it was read.
///
/// The core is what every page loads. Other modules are joined with what they import, except that they take from the
/// core what is in it: within a page, each module is there once.
struct ScriptBundle {
  /// A module without its comments, indentation and imports.
  private struct Module {
    var imports: [String] = []
    var exports: [String] = []
    var lines: [String] = []

    /// Nil for what is not read here: other forms of import and export, and texts over several lines.
    init?(_ source: String) {
      var isComment = false
      for line in source.split(separator: "\n") {
        let line = line.trimmedOfSpace
        if isComment || line.hasPrefix("/*") {
          guard !line.dropLast(2).contains("*/") else { return nil }
          isComment = !line.hasSuffix("*/")
        } else if line.hasPrefix("import ") {
          guard readImport(line) else { return nil }
        } else if line.hasPrefix("export ") {
          guard readExport(line.dropFirst("export ".count)) else { return nil }
        } else if !line.isEmpty, !line.hasPrefix("//") {
          guard line.utf8.count(where: { $0 == UInt8(ascii: "`") }).isMultiple(of: 2), !line.hasSuffix("\\") else {
            return nil
          }
          lines.append(String(line))
        }
      }
    }

    /// `import { a, b } from './name.js';`, or without names.
    private mutating func readImport(_ line: Substring) -> Bool {
      let parts = line.split(separator: "'", omittingEmptySubsequences: false)
      guard parts.count == 3, parts[1].hasPrefix("./"), parts[1].hasSuffix(".js"), parts[2] == ";" else { return false }
      let name = String(parts[1].dropFirst(2).dropLast(3))
      guard !name.isEmpty, name.utf8.allSatisfy({ (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) }) else {
        return false
      }
      imports.append(name)
      let names = parts[0].dropFirst("import ".count)
      guard !names.isEmpty else { return true }
      guard names.hasPrefix("{ "), names.hasSuffix(" } from "), !names.contains(" as ") else { return false }
      lines.append("const \(names.dropLast(" from ".count)) = \(ScriptBundle.variable(name));")
      return true
    }

    /// `function a() …`, `async function a() …` or `const a = …`. A variable that changes is none: its importers would
    /// keep the first value.
    private mutating func readExport(_ code: Substring) -> Bool {
      let words = code.split { !($0.isLetter || $0.isNumber || $0 == "_") }.drop { $0 == "async" }
      guard let kind = words.first, ["function", "const"].contains(kind), let name = words.dropFirst().first else {
        return false
      }
      exports.append(String(name))
      lines.append(String(code))
      return true
    }
  }

  private let modules: [String: Module]
  private let core: String
  /// What the core imports, in the order in which it runs; nil: it could not be read.
  private let shared: [String]?

  /// - Parameters:
  ///   - sources: by their names without `.js`.
  ///   - core: the name of the module that every page loads.
  init(_ sources: [String: [UInt8]], core: String) {
    modules = sources.compactMapValues { Module(String(decoding: $0, as: UTF8.self)) }
    self.core = core
    var order: [String] = []
    shared = Self.visit(core, modules, open: [], &order) ? Array(order.dropLast()) : nil
  }

  /// A module with all that it imports, and what it exports.
  ///
  /// - Returns: nil if it has to be served as it is: part of the core, or one of its modules or the core could not be
  ///   read, is missing, or imports itself.
  func joined(_ name: String) -> [UInt8]? {
    var order: [String] = []
    guard let shared, !shared.contains(name), Self.visit(name, modules, open: [], &order),
      name == core || !order.contains(core)
    else { return nil }
    let own = name == core ? order : order.filter { !shared.contains($0) }
    let taken = shared.filter { part in name != core && own.contains { modules[$0]?.imports.contains(part) ?? false } }
    var text = taken.isEmpty ? "" : "import { \(Self.variables(taken)) } from './\(core).js';\n"
    for part in own {
      guard let module = modules[part] else { return nil }
      let code = module.lines.joined(separator: "\n")
      let exports = module.exports.joined(separator: ", ")
      if part == name {
        text += code + "\n" + (module.exports.isEmpty ? "" : "export { \(exports) };\n")
      } else {
        // A scope of its own, as a module has.
        text += "const \(Self.variable(part)) = (() => {\n\(code)\nreturn { \(exports) };\n})();\n"
      }
    }
    if name == core, !shared.isEmpty { text += "export { \(Self.variables(shared)) };\n" }
    return Array(text.utf8)
  }

  /// Appends what a module imports, and then the module, each once.
  private static func visit(
    _ name: String, _ modules: [String: Module], open: Set<String>, _ order: inout [String]
  ) -> Bool {
    if order.contains(name) { return true }
    guard let module = modules[name], !open.contains(name) else { return false }
    for part in module.imports {
      guard visit(part, modules, open: open.union([name]), &order) else { return false }
    }
    order.append(name)
    return true
  }

  /// What a module exports, in the scripts it is joined into.
  private static func variable(_ name: String) -> String { "$" + name }

  private static func variables(_ names: [String]) -> String { names.map(variable).joined(separator: ", ") }
}
