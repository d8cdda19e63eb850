import JSON
import Mustache
import Model
import Simulator

/// The rows of the "What the app will see" table: the latest iOS, Android, earlier iOS. Situations that differ only in
/// the background mode share a row when their callbacks are the same.
struct CallbackRows {
  private typealias AndroidSituation = (state: SimulatedPhone.AppState, isShown: Bool, calls: AndroidCallbacks)

  private let table: CallbackTable
  private let receiver: PushType.Receiver?
  private let reachesIOS: Bool
  private let android: [AndroidSituation]
  private let isJPush: Bool

  /// - Parameters:
  ///   - type: another than a notification's has no rows for iOS.
  ///   - message: for Android, as FCM gets it; nil: Android gets none.
  ///   - isJPush: whether JPush's library receives it.
  init(
    _ facts: APNsPayload.Facts, type: PushType = .alert, reachesIOS: Bool = true, message: JSONValue? = nil,
    isJPush: Bool = false
  ) {
    (table, receiver, self.reachesIOS) = (CallbackTable(facts), reachesIOS ? type.receiver : nil, reachesIOS)
    self.isJPush = isJPush
    let hasNotification = message.flatMap { AndroidNotification($0) } != nil
    let states = message == nil ? [] : SimulatedPhone.AppState.allCases
    android = states.map { state in
      let isShown = hasNotification && state != .foreground
      let calls =
        isJPush
        ? AndroidCallbacks(jpushHasNotification: hasNotification, appState: state, isShown: isShown)
        : AndroidCallbacks(hasNotification: hasNotification, appState: state, isShown: isShown)
      return (state, isShown, calls)
    }
  }

  /// The largest number of times that one push can call the app's code, or what gets it instead.
  func summary(_ texts: Texts) -> String {
    if let receiver { return texts.receiver(receiver) }
    let most =
      reachesIOS
      ? table.cells.filter { $0.generation == .from10 }.map(\.calls.upperBound).max() ?? 0
      : android.map { $0.calls.count }.max() ?? 0
    switch most {
    case 0: return reachesIOS ? texts("callbacks.never") : ""
    case 1: return reachesIOS ? texts("callbacks.once") : texts("callbacks.android_once")
    default: return texts("callbacks.twice", ["count": String(most), "key": APNsPayload.idKey])
    }
  }

  func rows(_ texts: Texts) -> [CallbackRow] {
    let origin =
      isJPush
      ? CallbackOrigin(source: texts.labelled(texts("callbacks.source"), ProviderKind.jpush.name), links: [])
      : CallbackOrigin(firebase: texts)
    let androidRows = android.map { situation in
      CallbackRow(
        state: texts("callbacks.\(situation.state.rawValue)"), system: texts("platform.android"), mode: "",
        origin: origin,
        effect: CallbackEffect(situation.calls, isShown: situation.isShown, in: situation.state, texts))
    }
    guard receiver == nil, reachesIOS else { return androidRows }
    return rows(.from10, texts) + androidRows + rows(.from7to9, texts) + rows(.before7, texts)
  }

  private func rows(_ generation: CallbackTable.Generation, _ texts: Texts) -> [CallbackRow] {
    CallbackTable.State.allCases.flatMap { state in
      let on = table.cell(generation, state, backgroundMode: true)
      let off = table.cell(generation, state, backgroundMode: false)
      if on.hasSameEffect(as: off) { return [row([on, off], mode: "", texts)] }
      return [
        row([on], mode: texts("callbacks.mode_on"), texts), row([off], mode: texts("callbacks.mode_off"), texts),
      ]
    }
  }

  /// What a row shows without its notes: its calls, and that there is nothing to tap.
  private static let shownNotes: Set<CallbackNote> = [.dropRepeats, .noAlert, .nothingHappens]

  /// - Parameter cells: situations with the same effect, at least one.
  private func row(_ cells: [CallbackTable.Cell], mode: String, _ texts: Texts) -> CallbackRow {
    CallbackRow(
      state: texts("callbacks.\(cells[0].state.rawValue)"), system: "iOS \(cells[0].generation.rawValue)", mode: mode,
      origin: CallbackOrigin(
        cells.flatMap(\.sources), cells.flatMap(\.contradictions),
        cells.flatMap(\.notes).filter { !Self.shownNotes.contains($0) }, texts),
      effect: CallbackEffect(cells[0], isJPush: isJPush, texts))
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
  /// As “iOS 10+”.
  let system: String
  let mode: String
  let origin: CallbackOrigin
  let effect: CallbackEffect

  static let fields: [Field<Self>] = [
    .text("state") { $0.state },
    .text("system") { $0.system },
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

  /// - Parameter isJPush: whether JPush's library calls the methods.
  init(_ cell: CallbackTable.Cell, isJPush: Bool = false, _ texts: Texts) {
    arrival = cell.arrival.map { CallView($0, isJPush: isJPush, texts) }
    shown = texts("callbacks.banner_\(cell.banner.rawValue)")
    tap = cell.tap.map { CallView($0, isJPush: isJPush, texts) }
    tapText =
      (cell.tap.isEmpty ? texts("callbacks.no_tap") + texts("between.phrases") : "")
      + texts("callbacks.icon_\(cell.icon.rawValue)")
    let numbers = cell.calls
    calls =
      numbers.lowerBound == numbers.upperBound
      ? "\(numbers.lowerBound)" : "\(numbers.lowerBound)–\(numbers.upperBound)"
    duplicates = cell.duplicates
  }

  /// On Android (docs/protocols.md §5.1).
  init(_ methods: AndroidCallbacks, isShown: Bool, in state: SimulatedPhone.AppState, _ texts: Texts) {
    func view(_ call: AndroidCallbacks.Call, _ condition: String) -> CallView {
      CallView(name: call.rawValue, signature: call.signature, condition: condition)
    }
    let stopped = state == .notRunning ? texts("callbacks.unless_force_stop") : ""
    arrival = methods.arrival.map { [view($0, stopped)] } ?? []
    shown = isShown ? texts("callbacks.in_shade") : texts("callbacks.banner_no")
    tap = methods.tap.map { [view($0, $0 == .notificationOpened ? "" : texts("phones.with_extras"))] } ?? []
    let untapped = isShown ? texts("callbacks.icon_nothing") : texts("callbacks.no_tap")
    let open = texts("between.phrases") + texts("callbacks.icon_not_applicable")
    tapText = state == .foreground ? untapped + open : untapped
    calls = String(methods.count)
    duplicates = methods.count > 1
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
  /// - Parameters:
  ///   - moment: when it is called, beside its condition; empty: whenever that holds.
  ///   - isJPush: whether JPush's library calls it.
  init(_ call: CallbackTable.Call, moment: String = "", isJPush: Bool = false, _ texts: Texts) {
    let name = (isJPush ? call.method.jpushName : nil) ?? call.method.swiftName
    self.init(
      name: call.method.label(name), signature: name,
      condition: texts.clauses([moment, texts("callbacks.\(call.condition.rawValue)")].filter { !$0.isEmpty }))
  }
}

extension CallbackTable.Method {
  /// As “userNotificationCenter(willPresent)”: two methods share the name before the parenthesis.
  ///
  /// - Parameter name: Apple's, or that of JPush's library.
  func label(_ name: String) -> String {
    let base = name.prefix { $0 != "(" }
    return switch self {
    case .launch: "\(base)(didFinishLaunching)"
    case .receive, .fetch: "\(base)(didReceiveRemoteNotification)"
    case .respond: "\(base)(didReceive)"
    case .present: "\(base)(willPresent)"
    case .action, .actionWithResponse: "\(base)(handleActionWithIdentifier)"
    }
  }
}
