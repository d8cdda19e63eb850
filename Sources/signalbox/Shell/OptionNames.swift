import Model
import Text

/// The names on the command line of fields of the API, which checks name in their problems.
struct OptionNames {
  /// By field, with all below it: the option, as `--tag` for `audience.tag`; empty: only the sentence is shown.
  var options: [String: String]
  /// By field: the option whose file has it; the path in the file is shown too.
  var files: [String: String] = [:]
}

extension Problems {
  /// The failure of a command, which names what was typed.
  ///
  /// - Parameter isUsage: whether values were checked that can never be right. It is wrong usage then, unless a problem
  ///   is in a file or has no option.
  func failure(_ names: OptionNames, isUsage: Bool = false) -> CommandFailure {
    let named = all.map { $0.named(names) }
    let isTyped = isUsage && named.allSatisfy { $0.isTyped }
    let problems = Problems(named.map { $0.problem })
    return CommandFailure("\(problems)", exitCode: isTyped ? ExitCode.usage : ExitCode.failed)
  }

  func failure(_ options: [String: String], isUsage: Bool = false) -> CommandFailure {
    failure(OptionNames(options: options), isUsage: isUsage)
  }
}

extension Problem {
  /// The same with the name of the nearest field that has one; `isTyped`: whether that is an option's value.
  fileprivate func named(_ names: OptionNames) -> (problem: Problem, isTyped: Bool) {
    let known = names.options.merging(names.files) { $1 }
    let fitting = known.keys.filter { field == $0 || field.hasPrefix($0 + ".") || field.hasPrefix($0 + "[") }
    guard let key = fitting.max(by: { $0.count < $1.count }), let name = known[key] else { return (self, false) }
    var copy = self
    copy.field = name
    guard names.files[key] != nil else { return (copy, !name.isEmpty) }
    var rest = field.dropFirst(key.count)
    if rest.hasPrefix(".") { rest = rest.dropFirst() }
    if !rest.isEmpty { copy.field += " \(rest)" }
    return (copy, false)
  }
}
