/// A template bound to its views in one language: fixed output is one run of bytes, and values are read from the views
/// by position, without names.
struct Program: Sendable {
  /// `depth` counts the views around a place, from 0 for the outermost. The program owns the readers, and operations
  /// only refer to them: stepping over an operation and calling its reader counts no references.
  enum Operation: BitwiseCopyable {
    /// A run of the fixed bytes.
    case bytes(start: Int, count: Int)
    case value(depth: Int, Unmanaged<Writer>)
    /// Jumps to `end` unless the test gives `expected`.
    case test(depth: Int, Unmanaged<Tester>, expected: Bool, end: Int)
    /// Repeats the operations up to `end` for each child.
    case children(depth: Int, Unmanaged<Visitor>, end: Int)
    /// Runs the operations up to `end` if the number has this plural form.
    case plural(depth: Int, plural: Int, end: Int)
    /// Runs the operations up to `body` without keeping what they write, and jumps to `end` unless they wrote something,
    /// as `expected`.
    case filled(expected: Bool, body: Int, end: Int)
  }

  // A class for each kind of reader: an array would keep closures in their most general form, and convert them for each
  // call.
  final class Writer: Sendable {
    let write: Slot.Write

    init(_ write: @escaping Slot.Write) { self.write = write }
  }

  final class Tester: Sendable {
    let test: Slot.Test

    init(_ test: @escaping Slot.Test) { self.test = test }
  }

  final class Visitor: Sendable {
    let visit: Slot.Visit

    init(_ visit: @escaping Slot.Visit) { self.visit = visit }
  }

  struct Plural: Sendable {
    let number: @Sendable (UnsafeRawPointer) -> Int
    let isForm: @Sendable (Int) -> Bool
  }

  var operations: [Operation] = []
  var bytes: [UInt8] = []
  /// Owns what the operations refer to.
  private var readers: [any AnyObject & Sendable] = []
  var plurals: [Plural] = []
  /// The greatest nesting of views.
  var depth = 0

  /// Writes the page. `views` are the outermost views in the order of binding.
  func run(_ views: [UnsafeRawPointer], into output: inout Output) {
    withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: max(depth, 1)) { stack in
      for (index, view) in views.enumerated() { stack[index] = view }
      // The operations do not keep them alive.
      withExtendedLifetime(readers) {
        run(stack, from: 0, to: operations.count, depth: views.count, into: &output)
      }
    }
  }

  private func run(
    _ stack: UnsafeMutableBufferPointer<UnsafeRawPointer>, from start: Int, to end: Int, depth: Int,
    into output: inout Output
  ) {
    var index = start
    while index < end {
      switch operations[index] {
      case .bytes(let start, let count):
        bytes.withUnsafeBufferPointer { output.write(UnsafeBufferPointer(rebasing: $0[start..<start + count])) }
      case .value(let depth, let writer):
        writer._withUnsafeGuaranteedRef { $0.write(stack[depth], &output) }
      case .test(let depth, let tester, let expected, let end):
        if tester._withUnsafeGuaranteedRef({ $0.test(stack[depth]) }) != expected { index = end - 1 }
      case .plural(let depth, let plural, let end):
        if !plurals[plural].isForm(plurals[plural].number(stack[depth])) { index = end - 1 }
      case .filled(let expected, let body, let end):
        let before = output.count
        run(stack, from: index + 1, to: body, depth: depth, into: &output)
        let isFilled = output.count > before
        output.cut(to: before)
        index = (isFilled == expected ? body : end) - 1
      case .children(let from, let visitor, let end):
        let first = index + 1
        visitor._withUnsafeGuaranteedRef { visitor in
          visitor.visit(stack[from]) { child in
            stack[depth] = child
            run(stack, from: first, to: end, depth: depth + 1, into: &output)
          }
        }
        index = end - 1
      }
      index += 1
    }
  }
}

extension Program {
  private mutating func own<Reader: AnyObject & Sendable>(_ reader: Reader) -> Unmanaged<Reader> {
    readers.append(reader)
    return .passUnretained(reader)
  }

  private mutating func begin(_ operation: Operation) -> Int {
    operations.append(operation)
    return operations.count - 1
  }

  /// Ends the part whose beginning was this operation.
  mutating func finish(_ start: Int) {
    let end = operations.count
    switch operations[start] {
    case .test(let depth, let tester, let expected, _):
      operations[start] = .test(depth: depth, tester, expected: expected, end: end)
    case .children(let depth, let visitor, _): operations[start] = .children(depth: depth, visitor, end: end)
    case .plural(let depth, let plural, _): operations[start] = .plural(depth: depth, plural: plural, end: end)
    case .filled(let expected, let body, _): operations[start] = .filled(expected: expected, body: body, end: end)
    case .bytes, .value: preconditionFailure("an operation without a part")
    }
  }

  mutating func append(_ write: @escaping Slot.Write, depth: Int) {
    operations.append(.value(depth: depth, own(Writer(write))))
  }

  /// Begins a part, which ``finish(_:)`` ends.
  ///
  /// - Returns: the operation's position.
  mutating func begin(_ test: @escaping Slot.Test, depth: Int, expected: Bool) -> Int {
    begin(.test(depth: depth, own(Tester(test)), expected: expected, end: 0))
  }

  mutating func begin(_ visit: @escaping Slot.Visit, depth: Int) -> Int {
    begin(.children(depth: depth, own(Visitor(visit)), end: 0))
  }

  mutating func begin(_ plural: Plural, depth: Int) -> Int {
    plurals.append(plural)
    return begin(.plural(depth: depth, plural: plurals.count - 1, end: 0))
  }

  /// Begins with what is only run to see whether it writes something; ``finishProbe(_:)`` ends that.
  mutating func begin(filled expected: Bool) -> Int { begin(.filled(expected: expected, body: 0, end: 0)) }

  mutating func finishProbe(_ start: Int) {
    guard case .filled(let expected, _, let end) = operations[start] else { return }
    operations[start] = .filled(expected: expected, body: operations.count, end: end)
  }

  /// Whether it writes something, where that does not depend on a view; nil where it does.
  var fixedFilling: Bool? {
    let isFixed = operations.allSatisfy { operation in
      if case .bytes = operation { true } else { false }
    }
    return isFixed ? !operations.isEmpty : nil
  }
}
