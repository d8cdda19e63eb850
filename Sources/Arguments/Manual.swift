extension Program {
  /// A section at the end of the manual.
  public typealias Section = (title: String, items: [(term: String, text: String)])

  /// The manual page, for `man`: everything that the help of every command says.
  public func manual(_ sections: [Section] = []) -> String {
    var lines = [
      ".\\\" Made by \(root.name) manual from the description that --help is made of.",
      ".TH \(root.name.uppercased()) 1 \"\" \"\(root.name) \(version)\"",
      // Names of variables are not to be broken, nor lines stretched.
      ".nh", ".ad l", ".SH NAME", roff("\(root.name) - \(root.summary.lowercasedFirst)"),
      ".SH SYNOPSIS", ".B \(roff(root.name))", ".I command", "[options]",
      ".SH DESCRIPTION", roff(root.summary), roff(root.discussion),
      ".SH COMMANDS",
    ]
    for node in nodes where node.command.action != nil { lines += section(node) }
    for section in sections {
      lines.append(".SH \(roff(section.title.uppercased()))")
      for (term, text) in section.items { lines += item(".B \(roff(term))", text) }
    }
    return lines.filter { !$0.isEmpty }.joined(separator: "\n") + "\n"
  }

  private func section(_ node: Node) -> [String] {
    var lines = [".SS \(roff(name(node.path)))", roff(node.command.summary)]
    lines += [".PP", ".RS", roff(usage(node.path)), ".RE"]
    if !node.command.discussion.isEmpty {
      lines.append(".PP")
      let paragraphs = node.command.discussion.split(separator: "\n").map { roff(String($0)) }
      lines.append(paragraphs.joined(separator: "\n.br\n"))
    }
    for parameter in node.command.parameters {
      lines += item(term(parameter), explanation(parameter))
    }
    return lines
  }

  private func term(_ parameter: Parameter) -> String {
    switch parameter.kind {
    case .argument: ".I \(roff(parameter.label))" + (parameter.isRepeated ? " ..." : "")
    case .option(onlyFromEnvironment: true): ".B \(roff(variable(parameter) ?? ""))"
    case .option: ".BI \"\(roff("--\(parameter.name)")) \" \(roff(parameter.label))"
    case .flag: ".BR \(parameter.words.map(roff).joined(separator: " , "))"
    }
  }

  private func item(_ term: String, _ text: String) -> [String] { [".TP", term, roff(text)] }
}

/// Text that a formatter of manual pages shows as it is.
private func roff(_ text: String) -> String {
  let escaped = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").replacing("\"", with: "\\(dq")
  // At the beginning of a line these begin a request.
  return escaped.split(separator: "\n", omittingEmptySubsequences: false).map { line in
    line.hasPrefix(".") || line.hasPrefix("'") ? "\\&\(line)" : String(line)
  }.joined(separator: "\n")
}

extension String {
  /// As the one line of a manual page begins: “a program that …”.
  fileprivate var lowercasedFirst: String {
    let text = hasSuffix(".") ? String(dropLast()) : self
    return text.prefix(1).lowercased() + text.dropFirst()
  }
}
