/// Fields that many answers share: checked, and put into bytes, once.
package final class HeaderBlock: Sendable {
  /// The fields, as they stand in an answer.
  package let fields: [Headers.Field]
  /// The same as they are sent, each with its line end.
  let bytes: [UInt8]

  /// - Precondition: the names and values may be sent, and no field is one that the server alone decides.
  package init(_ fields: [Headers.Field]) {
    precondition(Headers(fields).firstInvalidName == nil, "a field that cannot be sent")
    precondition(!fields.contains { ResponseHead.isOurs($0.name) }, "a field that the server decides")
    self.fields = fields
    bytes = fields.flatMap { Array("\($0.name): \($0.value)\r\n".utf8) }
  }

  func first(named name: String) -> String? { fields.first { $0.name.equalsIgnoringCase(name) }?.value }
}
