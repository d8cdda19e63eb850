import Mustache
import Push

/// "What the app will see", as rows of a table: iOS 10 and later, the app with the background mode.
struct CallbackRows {
  let table: CallbackTable

  init(_ facts: APNsPayload.Facts) { table = CallbackTable(facts) }

  func value(_ texts: Texts) -> Value {
    .list(
      CallbackTable.Generation.allCases.reversed().flatMap { generation in
        CallbackTable.State.allCases.map { row(table.cell(generation, $0, backgroundMode: true), texts) }
      })
  }

  private func row(_ cell: CallbackTable.Cell, _ texts: Texts) -> Value {
    [
      "version": .string("iOS \(cell.generation.rawValue)"), "state": .string(texts("callbacks.state.\(cell.state.rawValue)")),
      "arrival": .list(cell.arrival.map { call($0, texts) }), "any_arrival": .bool(!cell.arrival.isEmpty),
      "banner": .string(texts("callbacks.banner.\(cell.banner.rawValue)")),
      "tap": .list(cell.tap.map { call($0, texts) }), "any_tap": .bool(!cell.tap.isEmpty),
      "icon": .string(texts("callbacks.icon.\(cell.icon.rawValue)")), "duplicates": .bool(cell.duplicates),
      "sources": .string(cell.sources.map(\.rawValue).joined(separator: ", ")),
      "notes": .list(
        cell.contradictions.map { ["text": .string(texts.text(Problem("", $0)))] }
          + cell.notes.map { ["text": .string(texts.text(Problem("", $0)))] }),
    ]
  }

  private func call(_ call: CallbackTable.Call, _ texts: Texts) -> Value {
    [
      "name": .string(call.method.swiftName),
      "condition": .string(call.condition == .always ? "" : texts("callbacks.condition.\(call.condition.rawValue)")),
    ]
  }
}
