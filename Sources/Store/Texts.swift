internal import Foundation
internal import Push

/// A list of texts as a column keeps it: a JSON array.
func text(_ texts: [String]) -> String { JSONValue.array(texts.map { .string($0) }).text() }

/// Reads what ``text(_:)`` wrote.
func texts(_ text: String, _ column: String) throws -> [String] {
  guard let value = try? JSONValue(parsing: Data(text.utf8)), let texts = value.array?.map(\.string) else {
    // The decoder's own message adds nothing: the column holds no JSON.
    throw StoreError.unreadable(column: column, value: text)
  }
  return texts.compactMap { $0 }
}

/// Reads a column of JSON.
func json(_ text: String?, _ column: String) throws -> JSONValue? {
  guard let text else { return nil }
  do { return try JSONValue(parsing: Data(text.utf8)) } catch {
    throw StoreError.unreadable(column: column, value: text)
  }
}
