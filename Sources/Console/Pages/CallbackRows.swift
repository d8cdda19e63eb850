import Mustache
import Push

/// "What the app will see", as rows of a table, today's iOS first. Two situations that differ only in the background
/// mode share a row where they do not differ.
struct CallbackRows {
  private let table: CallbackTable

  init(_ facts: APNsPayload.Facts) { table = CallbackTable(facts) }

  /// How often one push may reach the app's code.
  func summary(_ texts: Texts) -> String {
    let most = table.cells.filter { $0.generation == .from10 }.map(\.calls.upperBound).max() ?? 0
    switch most {
    case 0: return texts("callbacks.never")
    case 1: return texts("callbacks.once")
    default: return texts("callbacks.twice", ["count": String(most), "key": APNsPayload.idKey])
    }
  }

  func value(_ texts: Texts) -> Value {
    .list(
      CallbackTable.Generation.allCases.reversed().flatMap { generation in
        CallbackTable.State.allCases.flatMap { state in
          let on = table.cell(generation, state, backgroundMode: true)
          let off = table.cell(generation, state, backgroundMode: false)
          if Self.looksLike(on, off) { return [row(on, mode: "", texts)] }
          return [row(on, mode: texts("callbacks.mode_on"), texts), row(off, mode: texts("callbacks.mode_off"), texts)]
        }
      })
  }

  private static func looksLike(_ one: CallbackTable.Cell, _ other: CallbackTable.Cell) -> Bool {
    one.arrival == other.arrival && one.banner == other.banner && one.tap == other.tap && one.icon == other.icon
      && one.calls == other.calls
  }

  private func row(_ cell: CallbackTable.Cell, mode: String, _ texts: Texts) -> Value {
    let calls = cell.calls
    return [
      "state": .string(texts("callbacks.\(cell.state.rawValue)")), "version": .string(cell.generation.rawValue),
      "mode": .string(mode), "arrival": .list(cell.arrival.map { Self.call($0, texts) }),
      "shown": .string(texts("callbacks.banner_\(cell.banner.rawValue)")),
      "tap": .list(cell.tap.map { Self.call($0, texts) }),
      "tap_text": .string(
        (cell.tap.isEmpty ? texts("callbacks.no_tap") + "; " : "") + texts("callbacks.icon_\(cell.icon.rawValue)")),
      "calls": .string(
        calls.lowerBound == calls.upperBound ? "\(calls.lowerBound)" : "\(calls.lowerBound)–\(calls.upperBound)"),
      "duplicates": .bool(cell.duplicates),
    ]
  }

  /// A method and when it is called; for the phones too.
  static func call(_ call: CallbackTable.Call, _ texts: Texts) -> Value {
    [
      "name": .string(String(call.method.swiftName.prefix { $0 != "(" }) + short(call.method)),
      "signature": .string(call.method.swiftName), "when": .string(texts("callbacks.\(call.condition.rawValue)")),
    ]
  }

  /// `userNotificationCenter` alone does not tell its two methods apart.
  private static func short(_ method: CallbackTable.Method) -> String {
    switch method {
    case .launch: "(didFinishLaunching)"
    case .receive, .fetch: "(didReceiveRemoteNotification)"
    case .respond: "(didReceive)"
    case .present: "(willPresent)"
    }
  }
}
