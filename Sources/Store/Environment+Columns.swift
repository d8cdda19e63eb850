internal import Foundation
import JSON
internal import Model

// Numbers for columns with millions of rows. Append only.

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

extension ProviderKind {
  /// As stored in `devices.provider`. Those of APNs and FCM are the codes of their platforms, so that a device without
  /// a provider of its own is reached by `coalesce(provider, platform)`.
  var code: Int {
    switch self {
    case .apns: 1
    case .fcm: 2
    case .jpush: 3
    }
  }

  init(code: Int) throws {
    guard let value = ProviderKind.allCases.first(where: { $0.code == code }) else {
      throw StoreError.unreadable(column: "provider", value: "\(code)")
    }
    self = value
  }
}

/// A list of texts as a JSON array.
func text(_ texts: [String]) -> String { JSONValue.array(texts.map { .string($0) }).text() }

/// Reads the output of ``text(_:)``.
func texts(_ text: String, _ column: String) throws -> [String] {
  guard let value = try? JSONValue(parsing: Data(text.utf8)), let texts = value.array?.map(\.string) else {
    // The decoder's message adds nothing.
    throw StoreError.unreadable(column: column, value: text)
  }
  return texts.compactMap { $0 }
}

func json(_ text: String?, _ column: String) throws -> JSONValue? {
  guard let text else { return nil }
  do { return try JSONValue(parsing: Data(text.utf8)) } catch {
    throw StoreError.unreadable(column: column, value: text)
  }
}
