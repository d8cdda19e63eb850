/// A template bound to its views in one language: fixed output is one run of bytes, and values are read from the views
/// by position, without names.
struct Program: Sendable {
  /// `depth` counts the views around a place, from 0 for the outermost.
  enum Operation: Sendable {
    /// A run of the fixed bytes.
    case bytes(start: Int, count: Int)
    case value(depth: Int, Slot.Write)
    /// Jumps to `end` unless the test gives `expected`.
    case test(depth: Int, Slot.Test, expected: Bool, end: Int)
    /// Repeats the operations up to `end` for each child.
    case children(depth: Int, Slot.Children, end: Int)
    /// Runs the operations up to `end` if the number has this plural form.
    case plural(depth: Int, @Sendable (UnsafeRawPointer) -> Int, @Sendable (Int) -> Bool, end: Int)
  }

  var operations: [Operation] = []
  var bytes: [UInt8] = []
  /// The greatest nesting of views.
  var depth = 0

  /// Writes the page. `views` are the outermost views in the order of binding.
  func run(_ views: [UnsafeRawPointer], into output: inout Output) {
    withUnsafeTemporaryAllocation(of: UnsafeRawPointer.self, capacity: max(depth, 1)) { stack in
      for (index, view) in views.enumerated() { stack[index] = view }
      operations.withUnsafeBufferPointer { operations in
        bytes.withUnsafeBufferPointer { bytes in
          Self.run(
            operations, bytes, stack, from: 0, to: operations.count, depth: views.count, into: &output)
        }
      }
    }
  }

  private static func run(
    _ operations: UnsafeBufferPointer<Operation>, _ bytes: UnsafeBufferPointer<UInt8>,
    _ stack: UnsafeMutableBufferPointer<UnsafeRawPointer>, from start: Int, to end: Int, depth: Int,
    into output: inout Output
  ) {
    var index = start
    while index < end {
      switch operations[index] {
      case .bytes(let start, let count):
        output.write(UnsafeBufferPointer(rebasing: bytes[start..<start + count]))
      case .value(let depth, let write):
        write(stack[depth], &output)
      case .test(let depth, let test, let expected, let end):
        if test(stack[depth]) != expected { index = end - 1 }
      case .plural(let depth, let number, let isForm, let end):
        if !isForm(number(stack[depth])) { index = end - 1 }
      case .children(let from, let children, let end):
        let first = index + 1
        children.visit(stack[from]) { child in
          stack[depth] = child
          run(operations, bytes, stack, from: first, to: end, depth: depth + 1, into: &output)
        }
        index = end - 1
      }
      index += 1
    }
  }
}
