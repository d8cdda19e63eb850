import Mustache
import Model

/// The rows of the "What the app will see" table, latest iOS first. Situations that differ only in the background mode
/// share a row when their callbacks are the same.
struct CallbackRows {
  private let table: CallbackTable

  init(_ facts: APNsPayload.Facts) { table = CallbackTable(facts) }

  /// The largest number of times that one push can call the app's code.
  func summary(_ texts: Texts) -> String {
    let most = table.cells.filter { $0.generation == .from10 }.map(\.calls.upperBound).max() ?? 0
    switch most {
    case 0: return texts("callbacks.never")
    case 1: return texts("callbacks.once")
    default: return texts("callbacks.twice", ["count": String(most), "key": APNsPayload.idKey])
    }
  }

  func rows(_ texts: Texts) -> [CallbackRow] {
    CallbackTable.Generation.allCases.reversed().flatMap { generation in
      CallbackTable.State.allCases.flatMap { state in
        let on = table.cell(generation, state, backgroundMode: true)
        let off = table.cell(generation, state, backgroundMode: false)
        if Self.looksLike(on, off) { return [row(on, mode: "", texts)] }
        return [row(on, mode: texts("callbacks.mode_on"), texts), row(off, mode: texts("callbacks.mode_off"), texts)]
      }
    }
  }

  private static func looksLike(_ one: CallbackTable.Cell, _ other: CallbackTable.Cell) -> Bool {
    one.arrival == other.arrival && one.banner == other.banner && one.tap == other.tap && one.icon == other.icon
      && one.calls == other.calls
  }

  private func row(_ cell: CallbackTable.Cell, mode: String, _ texts: Texts) -> CallbackRow {
    let calls = cell.calls
    return CallbackRow(
      state: texts("callbacks.\(cell.state.rawValue)"), version: cell.generation.rawValue, mode: mode,
      arrival: cell.arrival.map { CallView($0, texts) }, shown: texts("callbacks.banner_\(cell.banner.rawValue)"),
      tap: cell.tap.map { CallView($0, texts) },
      tapText: (cell.tap.isEmpty ? texts("callbacks.no_tap") + texts("between.phrases") : "")
        + texts("callbacks.icon_\(cell.icon.rawValue)"),
      calls: calls.lowerBound == calls.upperBound
        ? "\(calls.lowerBound)" : "\(calls.lowerBound)–\(calls.upperBound)",
      duplicates: cell.duplicates)
  }
}

/// The rows alone, for the live preview script.
struct CallbackRowsView: TemplateView {
  static let template = "pushes/_callback_rows"

  let callbacks: [CallbackRow]

  static let fields: [Field<Self>] = [.list("callbacks") { $0.callbacks }]
}

/// One situation: which methods of the app are called, and how often.
struct CallbackRow: View {
  let state: String
  let version: String
  let mode: String
  let arrival: [CallView]
  let shown: String
  let tap: [CallView]
  let tapText: String
  let calls: String
  let duplicates: Bool

  static let fields: [Field<Self>] = [
    .text("state") { $0.state },
    .text("ios") { $0.version },
    .text("mode") { $0.mode },
    .list("arrival") { $0.arrival },
    .text("shown") { $0.shown },
    .list("tap") { $0.tap },
    .text("tap_text") { $0.tapText },
    .text("calls") { $0.calls },
    .flag("duplicates") { $0.duplicates },
  ]
}

struct CallView: View {
  let name: String
  let signature: String
  let condition: String

  init(_ call: CallbackTable.Call, _ texts: Texts) {
    name = String(call.method.swiftName.prefix { $0 != "(" }) + Self.short(call.method)
    signature = call.method.swiftName
    condition = texts("callbacks.\(call.condition.rawValue)")
  }

  static let fields: [Field<Self>] = [
    .text("name") { $0.name }, .text("signature") { $0.signature }, .text("condition") { $0.condition },
  ]

  /// Tells the two `userNotificationCenter` methods apart.
  private static func short(_ method: CallbackTable.Method) -> String {
    switch method {
    case .launch: "(didFinishLaunching)"
    case .receive, .fetch: "(didReceiveRemoteNotification)"
    case .respond: "(didReceive)"
    case .present: "(willPresent)"
    }
  }
}
