/// What many requests have in common: everything but path, the values of a few fields, and body.
package final class RequestTemplate: Sendable {
  /// Names of the fields that each request gives its own value for.
  package let variableNames: [String]

  /// `:method`, `:scheme` and, if it is the template's own, `:authority`.
  let pseudoFields: [FieldBytes]
  let hasOwnAuthority: Bool
  /// The same in every request.
  let fields: [FieldBytes]
  let variables: [[UInt8]]
  /// The answer to HEAD says how long the body would be, and has none (RFC 9110 §9.3.2).
  let isHead: Bool

  /// - Parameters:
  ///   - authority: nil for the endpoint's own.
  ///   - fields: the same in every request.
  ///   - variableNames: fields whose values ``RequestBatchBuilder/append(id:path:values:)`` takes, in this order;
  ///     sent without indexing, but for the first.
  package init(
    method: String = "POST", scheme: String = "https", authority: String? = nil, fields: [HeaderField],
    variableNames: [String] = []
  ) {
    self.variableNames = variableNames
    hasOwnAuthority = authority != nil
    isHead = method == "HEAD"
    var pseudoFields = [HeaderField(":method", method), HeaderField(":scheme", scheme)]
    if let authority { pseudoFields.append(HeaderField(":authority", authority)) }
    self.pseudoFields = pseudoFields.map(FieldBytes.init)
    self.fields = fields.map(FieldBytes.init)
    variables = variableNames.map { Array($0.utf8) }
  }
}

/// A header field as it is sent.
struct FieldBytes: Sendable {
  let name: [UInt8]
  let value: [UInt8]
  let indexing: HeaderField.Indexing

  init(_ field: HeaderField) {
    name = Array(field.name.utf8)
    value = Array(field.value.utf8)
    indexing = field.indexing
  }
}
