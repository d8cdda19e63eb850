internal import Push

// Numbers for rows by the million. Stored: append only.

extension Environment {
  /// As stored in `devices.environment`.
  var code: Int {
    switch self {
    case .development: 1
    case .production: 2
    }
  }

  init(code: Int) throws {
    guard let value = Environment.allCases.first(where: { $0.code == code }) else {
      throw StoreError.unreadable(column: "environment", value: "\(code)")
    }
    self = value
  }
}

extension Platform {
  /// As stored in `devices.platform`.
  var code: Int {
    switch self {
    case .ios: 1
    case .android: 2
    }
  }

  init(code: Int) throws {
    guard let value = Platform.allCases.first(where: { $0.code == code }) else {
      throw StoreError.unreadable(column: "platform", value: "\(code)")
    }
    self = value
  }
}
