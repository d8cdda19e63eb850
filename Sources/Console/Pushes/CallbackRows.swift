import Mustache
import Model

/// The rows of the "What the app will see" table, latest iOS first. Situations that differ only in the background mode
/// share a row when their callbacks are the same.
struct CallbackRows {
  private let table: CallbackTable
  private let receiver: PushType.Receiver?

  /// - Parameter type: another than a notification's has no rows.
  init(_ facts: APNsPayload.Facts, type: PushType = .alert) {
    (table, receiver) = (CallbackTable(facts), type.receiver)
  }

  /// The largest number of times that one push can call the app's code, or what gets it instead.
  func summary(_ texts: Texts) -> String {
    if let receiver { return texts.receiver(receiver) }
    let most = table.cells.filter { $0.generation == .from10 }.map(\.calls.upperBound).max() ?? 0
    switch most {
    case 0: return texts("callbacks.never")
    case 1: return texts("callbacks.once")
    default: return texts("callbacks.twice", ["count": String(most), "key": APNsPayload.idKey])
    }
  }

  func rows(_ texts: Texts) -> [CallbackRow] {
    guard receiver == nil else { return [] }
    return CallbackTable.Generation.allCases.reversed().flatMap { generation in
      CallbackTable.State.allCases.flatMap { state in
        let on = table.cell(generation, state, backgroundMode: true)
        let off = table.cell(generation, state, backgroundMode: false)
        if on.hasSameEffect(as: off) { return [row([on, off], mode: "", texts)] }
        return [
          row([on], mode: texts("callbacks.mode_on"), texts), row([off], mode: texts("callbacks.mode_off"), texts),
        ]
      }
    }
  }

  /// What a row shows without its notes: its calls, and that there is nothing to tap.
  private static let shownNotes: Set<CallbackNote> = [.dropRepeats, .noAlert, .nothingHappens]

  /// - Parameter cells: situations with the same effect, at least one.
  private func row(_ cells: [CallbackTable.Cell], mode: String, _ texts: Texts) -> CallbackRow {
    CallbackRow(
      state: texts("callbacks.\(cells[0].state.rawValue)"), version: cells[0].generation.rawValue, mode: mode,
      origin: CallbackOrigin(
        cells.flatMap(\.sources), cells.flatMap(\.contradictions),
        cells.flatMap(\.notes).filter { !Self.shownNotes.contains($0) }, texts),
      effect: CallbackEffect(cells[0], texts))
  }
}

extension Texts {
  /// What gets a push instead of the app's notification methods.
  func receiver(_ receiver: PushType.Receiver) -> String { self("callbacks.by_\(receiver.rawValue)") }
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
  let origin: CallbackOrigin
  let effect: CallbackEffect

  static let fields: [Field<Self>] = [
    .text("state") { $0.state },
    .text("ios") { $0.version },
    .text("mode") { $0.mode },
    .view("origin") { $0.origin },
    .view("effect") { $0.effect },
  ]
}

/// What happens in a situation, for `pushes/_callback_cells`.
struct CallbackEffect: View {
  let arrival: [CallView]
  let shown: String
  let tap: [CallView]
  let tapText: String
  let calls: String
  let duplicates: Bool

  init(_ cell: CallbackTable.Cell, _ texts: Texts) {
    arrival = cell.arrival.map { CallView($0, texts) }
    shown = texts("callbacks.banner_\(cell.banner.rawValue)")
    tap = cell.tap.map { CallView($0, texts) }
    tapText =
      (cell.tap.isEmpty ? texts("callbacks.no_tap") + texts("between.phrases") : "")
      + texts("callbacks.icon_\(cell.icon.rawValue)")
    let numbers = cell.calls
    calls =
      numbers.lowerBound == numbers.upperBound
      ? "\(numbers.lowerBound)" : "\(numbers.lowerBound)–\(numbers.upperBound)"
    duplicates = cell.duplicates
  }

  static let fields: [Field<Self>] = [
    .list("arrival") { $0.arrival },
    .text("shown") { $0.shown },
    .list("tap") { $0.tap },
    .text("tap_text") { $0.tapText },
    .text("calls") { $0.calls },
    .flag("duplicates") { $0.duplicates },
  ]
}

/// An app method that iOS or Android calls for a push.
struct CallView: View {
  let name: String
  let signature: String
  /// When it is called, as text.
  let condition: String

  static let fields: [Field<Self>] = [
    .written("method") { $1.write(methods: $0.name) },
    .text("signature") { $0.signature },
    .text("condition") { $0.condition },
  ]
}

extension Output {
  /// Writes the name of a method, or a list of them: a line may end after `(`, `:` and `.`, and need not end in a word.
  mutating func write(methods text: String) {
    var rest = text[...]
    while let mark = rest.firstIndex(where: { "(:.".contains($0) }) {
      let next = rest.index(after: mark)
      write(String(rest[..<next]))
      if next < rest.endIndex, rest[next] != ")" { write("<wbr>" as StaticString) }
      rest = rest[next...]
    }
    write(String(rest))
  }
}

extension CallView {
  /// - Parameter moment: when it is called, beside its condition; empty: whenever that holds.
  init(_ call: CallbackTable.Call, moment: String = "", _ texts: Texts) {
    self.init(
      name: call.method.label, signature: call.method.swiftName,
      condition: texts.clauses([moment, texts("callbacks.\(call.condition.rawValue)")].filter { !$0.isEmpty }))
  }
}

extension CallbackTable.Method {
  /// As “userNotificationCenter(willPresent)”: two methods share the name before the parenthesis.
  var label: String {
    let base = swiftName.prefix { $0 != "(" }
    return switch self {
    case .launch: "\(base)(didFinishLaunching)"
    case .receive, .fetch: "\(base)(didReceiveRemoteNotification)"
    case .respond: "\(base)(didReceive)"
    case .present: "\(base)(willPresent)"
    }
  }
}
