import Glibc

/// A system call that failed: its name and the error number, in words.
package struct SystemError: Error, Equatable, CustomStringConvertible, Sendable {
  /// The call, as in its manual page.
  package let call: String
  /// `errno` right after the call.
  package let number: Int32

  /// Takes the present `errno`.
  package init(_ call: String) { self.init(call, number: errno) }

  /// An error whose number came by another way than `errno`.
  package init(_ call: String, number: Int32) {
    self.call = call
    self.number = number
  }

  /// As `bind: Address already in use`.
  package var description: String {
    var text = [CChar](repeating: 0, count: 256)
    guard strerror_r(number, &text, text.count) == 0 else { return "\(call): error \(number)" }
    return "\(call): \(String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self))"
  }
}
