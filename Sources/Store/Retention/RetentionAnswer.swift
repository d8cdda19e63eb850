package import JSON

/// The schema `Retention`.
package struct RetentionAnswer: JSONWritable, Sendable {
  private let policy: RetentionPolicy
  private let due: Trim.Due

  /// - Parameter due: what is too old by it.
  package init(policy: RetentionPolicy, due: Trim.Due) {
    self.policy = policy
    self.due = due
  }

  /// One object.
  package func write(to json: inout JSONWriter) {
    json.object { json in
      for field in RetentionPolicy.fields {
        json.key(dynamic: field.name)
        json.integer(Int64(policy[keyPath: field.value]))
      }
      json.object("due") { json in
        for kind in Trim.Kind.allCases {
          json.key(dynamic: kind.rawValue)
          json.integer(Int64(due[kind]))
        }
      }
    }
  }
}
