import TestSupport
import Testing

@testable import Model

/// A sentence for people is whole: no placeholder is left, and the catalogue holds its code.
func expectFilled(_ problem: Problem?, at location: SourceLocation = #_sourceLocation) {
  guard let problem else { return }
  let names = problem.template.matches(of: /\{([a-z]+)\}/).map { String($0.output.1) }
  #expect(names.filter { problem.arguments[$0] == nil } == [], "\(problem.code)", sourceLocation: location)
  #expect(MessageCatalogue.all[problem.code] == problem.template, "\(problem.code)", sourceLocation: location)
}

/// Problems as `path code`, in short.
func lines(_ problems: Problems?) -> [String] {
  for problem in problems?.all ?? [] { expectFilled(problem) }
  return (problems?.all ?? []).map { "\($0.field) \($0.code)" }
}

/// Findings as `severity path code`.
func lines(_ findings: [Lint.Finding]) -> [String] {
  findings.map { "\($0.severity) \($0.problem.field) \($0.problem.code)" }
}
