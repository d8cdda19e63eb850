import Text

/// Sorts the words after a command by the parameters that they belong to.
struct Reader {
  let parameters: [Parameter]
  let command: String
  private var given: [String: [String]] = [:]
  private var positional: [String] = []

  init(parameters: [Parameter], command: String) {
    self.parameters = parameters
    self.command = command
  }

  /// What was given by the parameters' names; nil: help or the version is asked for.
  mutating func read(_ words: ArraySlice<String>) throws(UsageError) -> [String: [String]]? {
    var rest = words
    while let word = rest.popFirst() {
      if word == "--" {
        positional += rest
        break
      }
      if word == "--help" || word == "-h" || word == "--version" { return nil }
      // A dash alone is standard input.
      if word.hasPrefix("-"), word.utf8.count > 1 { try option(word, &rest) } else { positional.append(word) }
    }
    try spread()
    return given
  }

  private mutating func option(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let spelled = String(parts[0])
    let attached = parts.count > 1 ? String(parts[1]) : nil
    for parameter in parameters {
      switch parameter.kind {
      case .option(onlyFromEnvironment: false) where spelled == "--\(parameter.name)":
        // What looks like an option is one; a text that begins so is attached: --name=--text.
        let isNext = attached == nil && rest.first?.hasPrefix("--") == false
        guard let value = attached ?? (isNext ? rest.popFirst() : nil) else {
          throw UsageError("\(spelled) needs a value: \(parameter.spelling)", command)
        }
        if given[parameter.name] != nil, !parameter.isRepeated {
          throw UsageError("\(spelled) was given twice.", command)
        }
        given[parameter.name, default: []].append(value)
        return
      case .flag(let isInvertible):
        let isNegated = isInvertible && spelled == "--no-\(parameter.name)"
        guard isNegated || spelled == "--\(parameter.name)" else { continue }
        guard attached == nil else { throw UsageError("\(spelled) takes no value.", command) }
        given[parameter.name] = [isNegated ? "false" : "true"]
        return
      default: continue
      }
    }
    let names = parameters.flatMap { parameter -> [String] in
      switch parameter.kind {
      case .option(onlyFromEnvironment: false), .flag(isInvertible: false): ["--\(parameter.name)"]
      case .flag: ["--\(parameter.name)", "--no-\(parameter.name)"]
      default: []
      }
    }
    let hint = suggestion(for: spelled, among: names + ["--help"])
    throw UsageError("Unknown option “\(spelled)”.\(hint)", command)
  }

  /// Gives the values without a name to the arguments, in order.
  private mutating func spread() throws(UsageError) {
    var rest = positional[...]
    for parameter in parameters {
      guard case .argument = parameter.kind else { continue }
      if parameter.isRepeated {
        given[parameter.name] = Array(rest)
        rest = []
      } else if let value = rest.popFirst() {
        given[parameter.name] = [value]
      }
    }
    if let extra = rest.first { throw UsageError("Unexpected argument “\(extra)”.", command) }
  }
}

/// Such as ` Did you mean “import”?`; empty if nothing is near.
func suggestion(for word: String, among candidates: [String]) -> Message {
  let limit = max(1, word.utf8.count / 3)
  let near = candidates.map { (word: $0, distance: Suggestion.distance(Array(word.utf8), Array($0.utf8))) }
    .min { $0.distance < $1.distance }
  let begun = candidates.first { word.utf8.count > 2 && $0.hasPrefix(word) }
  guard let found = begun ?? near.flatMap({ $0.distance <= limit ? $0.word : nil }) else { return "" }
  return " Did you mean “\(found)”?"
}
