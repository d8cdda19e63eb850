/// The members of views that were needed so far: many templates use the same ones.
final class KnownMembers {
  private var members: [ObjectIdentifier: Members] = [:]

  func members(of view: any View.Type) -> Members {
    if let members = members[ObjectIdentifier(view)] { return members }
    let new = Members(view)
    members[ObjectIdentifier(view)] = new
    return new
  }
}

/// Compiles a template against its views and the texts of one language.
struct Binder {
  /// A view around a place. A hidden one was only entered by a dotted name and is not searched.
  private struct Scope {
    var members: Members
    var isHidden = false
  }

  private let library: TemplateLibrary
  private let language: ViewLanguage
  private let known: KnownMembers
  private var program = Program()
  private var scopes: [Scope]
  /// Blocks of descendants, the outermost first.
  private var overrides: [[Node.Block]] = []
  private var white = WhiteSpace()
  private var markup = MarkupPlace()
  /// How deep templates are nested here.
  private var nesting = 0

  private static let nestingLimit = 64

  private init(
    _ library: TemplateLibrary, _ language: ViewLanguage, _ views: [any View.Type], _ known: KnownMembers
  ) {
    self.library = library
    self.language = language
    self.known = known
    scopes = views.map { Scope(members: known.members(of: $0)) }
    program.depth = views.count
  }

  /// - Throws: ``TemplateError`` for a name that no surrounding view has, a text that the language lacks, and
  /// unsupported features (lambdas, dynamic names).
  static func bind(
    _ name: String, _ library: TemplateLibrary, _ language: ViewLanguage, _ views: [any View.Type],
    _ known: KnownMembers
  ) throws(TemplateError) -> Program {
    guard let template = library.templates[name] else {
      throw TemplateError("there is no such template", in: name, source: [], at: 0)
    }
    var binder = Binder(library, language, views, known)
    try binder.bind(template.nodes)
    return binder.program
  }

  private mutating func bind(_ nodes: [Node]) throws(TemplateError) {
    for node in nodes {
      switch node {
      case .text(let line):
        white.text(line, into: &program)
        markup.read(line.bytes)
      case .variable(let name, let escaped, let place): try write(name, escaped: escaped, place)
      case .section(let section): try bind(section)
      case .partial(let reference): try bind(reference, blocks: [])
      case .parent(let reference, let blocks): try bind(reference, blocks: blocks)
      case .block(let block): try bind(block)
      }
    }
  }

  private mutating func write(_ name: Node.Name, escaped: Bool, _ place: Place) throws(TemplateError) {
    white.value(into: &program)
    if let key = name.textKey { return try write(text: key, escaped: escaped, place) }
    try find(name, place) { (binder, depth, slot) throws(TemplateError) in
      switch slot {
      case .value(let write, _, _):
        guard escaped else { throw TemplateError("“\(name.text)” is text: write it with two braces", at: place) }
        binder.program.append(binder.markup.isolates ? Self.isolating(write) : write, depth: depth)
      case .flag: throw TemplateError("“\(name.text)” is true or false: it can only be used in a section", at: place)
      case .children: throw TemplateError("“\(name.text)” is a view: it can only be used in a section", at: place)
      }
    }
  }

  /// What people write may run from right to left: between the page's own words it is isolated.
  private static func isolating(_ write: @escaping Slot.Write) -> Slot.Write {
    { owner, output in
      let start = output.count
      write(owner, &output)
      output.isolate(from: start)
    }
  }

  /// Inserts a text of the language, with its places read from the views.
  private mutating func write(text key: String, escaped: Bool, _ place: Place) throws(TemplateError) {
    switch language.texts[key] {
    case .plain(let text): try write(pieces: text, key, escaped: escaped, place)
    case .plural(let forms):
      let language = language
      guard let other = forms["other"] else {
        throw TemplateError("the text “\(key)” has no form “other” in \(language.code)", at: place)
      }
      for (form, text) in forms.sorted(by: { $0.key < $1.key }) where form != "other" || forms.count > 1 {
        let isForm: @Sendable (Int) -> Bool = { count in
          let wanted = language.form(count)
          return (forms[wanted] == nil ? "other" : wanted) == form
        }
        try count(key, place) { (binder, depth, number) throws(TemplateError) in
          let start = binder.program.begin(Program.Plural(number: number, isForm: isForm), depth: depth)
          try binder.write(pieces: text, key, escaped: escaped, place)
          binder.program.finish(start)
          // The following belongs to every plural form.
          binder.white.seal()
        }
      }
      if forms.count == 1 { try write(pieces: other, key, escaped: escaped, place) }
    case nil: throw TemplateError("there is no text “\(key)” in \(language.code)", at: place)
    }
  }

  private mutating func write(pieces text: String, _ key: String, escaped: Bool, _ place: Place) throws(TemplateError) {
    for piece in ViewLanguage.pieces(of: text) {
      switch piece {
      case .fixed(let text):
        var output = Output(capacity: text.utf8.count)
        if escaped { output.write(text) } else { output.write(html: text) }
        white.raw(output.array, into: &program)
        markup.read(output.array)
      case .place(let name):
        do {
          try write(Node.Name(name), escaped: true, place)
        } catch {
          throw TemplateError("the text “\(key)” needs “\(name)”: \(error.message)", at: place)
        }
      }
    }
  }

  /// The number that chooses a text's plural form.
  private mutating func count(
    _ key: String, _ place: Place,
    _ body: (inout Binder, Int, @escaping @Sendable (UnsafeRawPointer) -> Int) throws(TemplateError) -> Void
  ) throws(TemplateError) {
    try find(Node.Name("count"), place) { (binder, depth, slot) throws(TemplateError) in
      guard case .value(_, _, let number?) = slot else {
        throw TemplateError("the text “\(key)” has plural forms: “count” must be a number", at: place)
      }
      try body(&binder, depth, number)
    }
  }

  /// Passes the member of a name to `body`: the innermost view that has its first part decides. Views on the way of a
  /// dotted name are entered first.
  private mutating func find(
    _ name: Node.Name, _ place: Place, _ body: (inout Binder, Int, Slot) throws(TemplateError) -> Void
  ) throws(TemplateError) {
    let first = name.parts.first ?? "."
    var depth = scopes.count
    while depth > 0 {
      depth -= 1
      guard !scopes[depth].isHidden, let slot = scopes[depth].members.slots[first] else { continue }
      return try enter(slot, depth, name.parts.dropFirst(), name, place, body)
    }
    let views = scopes.filter { !$0.isHidden }.map(\.members.typeName).reversed().joined(separator: ", ")
    throw TemplateError("there is no “\(name.text)” in \(views)", at: place)
  }

  private mutating func enter(
    _ slot: Slot, _ depth: Int, _ rest: ArraySlice<String>, _ name: Node.Name, _ place: Place,
    _ body: (inout Binder, Int, Slot) throws(TemplateError) -> Void
  ) throws(TemplateError) {
    guard let next = rest.first else { return try body(&self, depth, slot) }
    guard case .children(let children) = slot, !children.isList else {
      throw TemplateError("“\(name.text)” leads through something that is not a view", at: place)
    }
    let members = known.members(of: children.view)
    guard let inner = members.slots[next] else {
      throw TemplateError("there is no “\(next)” in \(members.typeName)", at: place)
    }
    try within(children, depth, Scope(members: members, isHidden: true)) { (binder) throws(TemplateError) in
      try binder.enter(inner, binder.scopes.count - 1, rest.dropFirst(), name, place, body)
    }
  }

  private mutating func within(
    _ children: Slot.Children, _ depth: Int, _ scope: Scope, _ body: (inout Binder) throws(TemplateError) -> Void
  ) throws(TemplateError) {
    let start = program.begin(children.visit, depth: depth)
    scopes.append(scope)
    program.depth = max(program.depth, scopes.count)
    try body(&self)
    scopes.removeLast()
    program.finish(start)
  }

  private mutating func bind(_ section: Node.Section) throws(TemplateError) {
    guard section.name.textKey == nil else {
      throw TemplateError("a text of the language cannot be a section", at: section.place)
    }
    if let block = section.name.block { return try bind(section, if: .given(block, section.place)) }
    white.boundary(before: section.nodes, into: &program)
    try find(section.name, section.place) { (binder, depth, slot) throws(TemplateError) in
      if case .children(let children) = slot, !section.inverted {
        let members = binder.known.members(of: children.view)
        try binder.within(children, depth, Scope(members: members)) { (binder) throws(TemplateError) in
          try binder.bind(section.nodes)
          binder.white.close(into: &binder.program)
        }
      } else {
        let start = binder.program.begin(slot.isTrue, depth: depth, expected: !section.inverted)
        try binder.bind(section.nodes)
        binder.white.close(into: &binder.program)
        binder.program.finish(start)
      }
    }
    white.seal()
  }

  /// A section that is there if a block writes something. What is fixed is decided here, and the rest on each page.
  private mutating func bind(_ section: Node.Section, if block: Node.Block) throws(TemplateError) {
    var probe = self
    (probe.program, probe.white) = (Program(), WhiteSpace())
    try probe.bind(block)
    if let isFilled = probe.program.fixedFilling {
      if isFilled != section.inverted { try bind(section.nodes) }
      return
    }
    white.boundary(before: section.nodes, into: &program)
    let (white, markup) = (white, markup)
    let start = program.begin(filled: !section.inverted)
    self.white = WhiteSpace()
    try bind(block)
    (self.white, self.markup) = (white, markup)
    program.finishProbe(start)
    try bind(section.nodes)
    self.white.close(into: &program)
    program.finish(start)
    self.white.seal()
  }

  private mutating func bind(_ reference: Node.Reference, blocks: [Node.Block]) throws(TemplateError) {
    guard case .fixed(let name) = reference.target else {
      throw TemplateError("a view's template cannot name another by a value", at: reference.place)
    }
    guard let template = library.templates[name] else {
      throw TemplateError("there is no template “\(name)”", at: reference.place)
    }
    guard nesting < Self.nestingLimit else {
      throw TemplateError("templates are nested more than \(Self.nestingLimit) levels deep", at: reference.place)
    }
    nesting += 1
    if !blocks.isEmpty { overrides.append(blocks) }
    try bind(template.nodes)
    if !blocks.isEmpty { overrides.removeLast() }
    nesting -= 1
  }

  private mutating func bind(_ block: Node.Block) throws(TemplateError) {
    for index in overrides.indices {
      guard let override = overrides[index].first(where: { $0.name == block.name }) else { continue }
      // Content passed into a component belongs to the passing template: the component's blocks do not affect it, so
      // that a button within a callout keeps its own label.
      let inner = overrides
      overrides.removeSubrange(index...)
      try bind(override.nodes)
      overrides = inner
      return
    }
    try bind(block.nodes)
  }
}
