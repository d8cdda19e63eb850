import JSON
import Testing

@testable import Model

@Suite("What the app will see")
struct CallbackTableTests {
  typealias Table = CallbackTable

  static let alert = facts(["alert": "x"])
  static let alertAndAvailable = facts(["alert": "x", "content-available": 1])
  static let silent = facts(["content-available": 1])

  private static func facts(_ aps: JSONValue) -> APNsPayload.Facts { APNsPayload.Facts(payload: ["aps": aps]) }

  /// One situation of docs/protocols.md §5 and what must come of it: methods as `M1`, with `key` for a launch with the
  /// push, `?` for a disputed call, `*` for one that Apple makes unless the app was force-quit, `+` for one after a
  /// banner that the app had shown, `!` for one only after a force quit.
  struct Row: Sendable, CustomTestStringConvertible {
    let number: Int
    let facts: APNsPayload.Facts
    let generation: Table.Generation
    let state: Table.State
    let mode: Bool
    let arrival: String
    let banner: Table.Banner
    let tap: String
    let icon: Table.IconTap
    let calls: ClosedRange<Int>
    let flags: String

    var testDescription: String { "row \(number)" }

    init(
      _ number: Int, _ facts: APNsPayload.Facts, _ generation: Table.Generation, _ state: Table.State, _ mode: Bool,
      _ arrival: String, _ banner: Table.Banner, _ tap: String, _ icon: Table.IconTap, _ calls: ClosedRange<Int>,
      _ flags: String
    ) {
      self.number = number
      self.facts = facts
      self.generation = generation
      self.state = state
      self.mode = mode
      self.arrival = arrival
      self.banner = banner
      self.tap = tap
      self.icon = icon
      self.calls = calls
      self.flags = flags
    }
  }

  static let rows: [Row] = [
    Row(1, alert, .before7, .foreground, false, "M2", .no, "", .notApplicable, 1...1, ""),
    Row(2, alert, .before7, .background, true, "", .yes, "M2", .nothing, 1...1, "C9"),
    Row(3, alert, .before7, .notRunning, false, "", .yes, "M1key", .pushLost, 1...1, ""),
    Row(4, alert, .from7to9, .foreground, false, "M3", .no, "", .notApplicable, 1...1, "C1"),
    Row(5, alertAndAvailable, .from7to9, .background, true, "M3", .yes, "M3", .nothingNew, 2...2, "C2 C3"),
    Row(6, alertAndAvailable, .from7to9, .background, false, "", .yes, "M3", .nothing, 1...1, ""),
    Row(7, alert, .from7to9, .background, true, "", .yes, "M3", .nothing, 1...1, "C4"),
    Row(8, alert, .from7to9, .background, false, "", .yes, "M3", .nothing, 1...1, ""),
    Row(9, alert, .from7to9, .notRunning, true, "", .yes, "M1key M3", .pushLost, 2...2, ""),
    Row(9, alertAndAvailable, .from7to9, .notRunning, false, "", .yes, "M1key M3", .pushLost, 2...2, ""),
    Row(
      10, alertAndAvailable, .from7to9, .notRunning, true, "M1* M3*", .yes, "M1key! M3", .lostAfterForceQuit, 2...3,
      "C5"),
    // S004: with the background mode alone, M3 is called in the foreground too.
    Row(11, alert, .from10, .foreground, true, "M5", .appDecides, "M4+", .notApplicable, 1...2, "C6 C10 C4"),
    Row(11, alert, .from10, .foreground, false, "M5", .appDecides, "M4+", .notApplicable, 1...2, "C6 C10"),
    Row(12, alertAndAvailable, .from10, .foreground, true, "M3 M5", .appDecides, "M4+", .notApplicable, 2...3, "C6"),
    Row(13, alertAndAvailable, .from10, .foreground, false, "M3? M5", .appDecides, "M4+", .notApplicable, 1...3, "C7"),
    Row(14, alertAndAvailable, .from10, .background, true, "M3", .yes, "M4", .nothingNew, 2...2, ""),
    Row(15, alert, .from10, .background, true, "", .yes, "M4", .nothing, 1...1, "C4"),
    Row(16, alert, .from10, .background, false, "", .yes, "M4", .nothing, 1...1, ""),
    Row(16, alertAndAvailable, .from10, .background, false, "", .yes, "M4", .nothing, 1...1, ""),
    Row(17, alert, .from10, .notRunning, true, "", .yes, "M1key M4", .pushLost, 2...2, "C8"),
    Row(17, alertAndAvailable, .from10, .notRunning, false, "", .yes, "M1key M4", .pushLost, 2...2, "C8"),
    Row(
      18, alertAndAvailable, .from10, .notRunning, true, "M1* M3*", .yes, "M1key! M4", .lostAfterForceQuit, 2...3,
      "C5 C8"),
    Row(19, silent, .from7to9, .background, true, "M3", .no, "", .nothingNew, 1...1, ""),
    Row(19, silent, .from7to9, .foreground, true, "M3", .no, "", .notApplicable, 1...1, ""),
    Row(19, silent, .from10, .background, true, "M3", .no, "", .nothingNew, 1...1, ""),
    Row(19, silent, .from10, .foreground, true, "M3", .no, "", .notApplicable, 1...1, ""),
    // Apple launches the app also for a silent push, unless it was force-quit.
    Row(19, silent, .from10, .notRunning, true, "M1* M3*", .no, "", .lostAfterForceQuit, 0...2, "C5"),
    // C3: in the foreground M3 needs neither background mode nor content-available.
    Row(4, silent, .from7to9, .foreground, false, "M3", .no, "", .notApplicable, 1...1, "C1 C3"),
    // C7: in the foreground content-available alone may do.
    Row(13, silent, .from10, .foreground, false, "M3?", .no, "", .notApplicable, 0...1, "C7"),
  ]

  @Test("the rows of the sheet", arguments: rows)
  func row(row: Row) {
    let cell = CallbackTable(row.facts).cell(row.generation, row.state, backgroundMode: row.mode)
    #expect((cell.generation, cell.state, cell.backgroundMode) == (row.generation, row.state, row.mode))
    #expect(cell.row == row.number)
    #expect(Self.text(cell.arrival) == row.arrival)
    #expect(cell.banner == row.banner)
    #expect(Self.text(cell.tap) == row.tap)
    #expect(cell.icon == row.icon)
    #expect(cell.calls == row.calls)
    #expect(cell.duplicates == (row.calls.upperBound > 1))
    #expect(cell.notes.contains(.dropRepeats) == cell.duplicates)
    #expect(cell.contradictions.map(\.name).joined(separator: " ") == row.flags)
    #expect(!cell.sources.isEmpty)
  }

  @Test("all nineteen rows are looked at, and every contradiction has its row")
  func complete() {
    #expect(Set(Self.rows.map(\.number)) == Set(1...19))
    let flagged = CallbackTable.rows.flatMap(\.contradictions)
    #expect(Set(flagged) == Set(CallbackContradiction.allCases))
  }

  @Test("the rules that people read are the nineteen rows, each with its conditions")
  func rules() throws {
    typealias Setting = Table.Rule.Setting
    let conditions: [Int: (mode: Setting, available: Setting)] = [
      1: (.either, .either), 2: (.either, .either), 3: (.either, .either), 4: (.either, .either), 5: (.yes, .yes),
      6: (.no, .yes), 7: (.yes, .no), 8: (.no, .no), 9: (.notBoth, .notBoth), 10: (.yes, .yes), 11: (.either, .no),
      12: (.yes, .yes), 13: (.no, .yes), 14: (.yes, .yes), 15: (.yes, .no), 16: (.no, .either),
      17: (.notBoth, .notBoth), 18: (.yes, .yes), 19: (.yes, .yes),
    ]
    #expect(Table.rules.map(\.number) == Table.rules.map(\.number).sorted())
    #expect(Set(Table.rules.map(\.number)) == Set(1...19))
    for rule in Table.rules {
      let wanted = try #require(conditions[rule.number])
      #expect(rule.backgroundMode == wanted.mode && rule.contentAvailable == wanted.available, "row \(rule.number)")
    }
    #expect(Table.rules.filter(\.isSilent).map(\.number) == [13, 19, 19, 19])
    #expect(Set(Table.rules.flatMap(\.contradictions)) == Set(CallbackContradiction.allCases))
  }

  @Test("every situation with a row is in exactly one rule, with all that is said of it", arguments: rows)
  func covered(row: Row) throws {
    let cell = CallbackTable(row.facts).cell(row.generation, row.state, backgroundMode: row.mode)
    let found = Table.rules.filter {
      $0.number == row.number && $0.cell.hasSameEffect(as: cell) && $0.states.contains(row.state)
        && $0.generations.contains(row.generation)
    }
    let rule = try #require(found.first)
    #expect(found.count == 1 && rule.cell.sources == cell.sources)
    #expect(Set(rule.contradictions).isSuperset(of: cell.contradictions))
    #expect(Set(rule.notes).isSuperset(of: cell.notes))
  }

  @Test("each situation occurs once, for any payload")
  func cells() {
    for facts in [Self.alert, Self.alertAndAvailable, Self.silent, Self.facts([:])] {
      let table = CallbackTable(facts)
      #expect(table.cells.count == 18)
      #expect(Set(table.cells.map { "\($0.generation) \($0.state) \($0.backgroundMode)" }).count == 18)
    }
  }

  @Test(
    "a silent push leaves no trace without the background mode, nor before iOS 7",
    arguments: [
      (Table.Generation.before7, Table.State.background, true), (.before7, .notRunning, true),
      (.from7to9, .background, false), (.from7to9, .notRunning, false), (.from10, .background, false),
      (.from10, .notRunning, false),
    ])
  func noTrace(generation: Table.Generation, state: Table.State, mode: Bool) {
    let cell = CallbackTable(Self.silent).cell(generation, state, backgroundMode: mode)
    #expect(cell.row == nil)
    #expect((cell.arrival, cell.tap, cell.calls) == ([], [], 0...0))
    #expect(cell.notes == [.nothingHappens])
  }

  @Test("without an alert there is no banner and nothing to tap, with or without a badge")
  func badgeOnly() {
    for cell in CallbackTable(Self.facts(["badge": 1, "sound": "x"])).cells {
      #expect((cell.banner, cell.tap) == (.no, []))
      #expect(cell.calls.upperBound == cell.arrival.count)
    }
  }

  @Test("an empty push is heard of at most in the foreground")
  func empty() {
    for cell in CallbackTable(Self.facts([:])).cells where cell.state != .foreground { #expect(cell.arrival == []) }
  }

  @Test("an app that the push woke is not launched again; one that was force-quit hears of it by the tap: calls agree")
  func forceQuit() {
    let facts = [Self.alert, Self.alertAndAvailable, Self.silent, Self.facts(["badge": 1, "content-available": 1])]
    for cell in facts.flatMap({ CallbackTable($0).cells }) where cell.arrival.contains(where: Self.wakes) {
      let woken = cell.arrival.count + cell.tap.count { $0.condition != .withPushAfterForceQuit }
      #expect(cell.state == .notRunning && cell.calls == cell.tap.count...woken, "\(cell)")
      #expect(cell.tap.filter { $0.method == .launch }.allSatisfy { $0.condition == .withPushAfterForceQuit })
      #expect(cell.icon == .lostAfterForceQuit && cell.notes.contains(.notAfterForceQuit))
    }
  }

  private static func wakes(_ call: Table.Call) -> Bool { call.condition == .unlessForceQuit }

  @Test(
    "what a method of the app must know is said at every rule that it holds for",
    arguments: [
      (CallbackNote.receiveIfNoFetch, Set(4...10)), (.actionButtons, Set(5...10)), (.remoteTrigger, Set(11...18)),
    ])
  func notes(note: CallbackNote, numbers: Set<Int>) {
    let visible = Table.rules.filter { !$0.isSilent }
    #expect(Set(visible.filter { $0.notes.contains(note) }.map(\.number)) == numbers)
    // Without an alert there is no tap and no button.
    for cell in CallbackTable(Self.facts(["badge": 1])).cells {
      #expect(!cell.notes.contains(.actionButtons))
      #expect(!cell.notes.contains(.remoteTrigger) || cell.arrival.contains { $0.method == .present })
    }
  }

  @Test("the older method is not called at a cold start, and the note says so")
  func coldStart() {
    #expect(CallbackNote.receiveIfNoFetch.english.contains("not at a cold start"))
    #expect(Table.rules.allSatisfy { rule in !rule.cell.tap.contains { $0.method == .receive } || rule.number == 2 })
  }

  @Test("repeats are called out for today's iOS")
  func duplicates() {
    func repeats(_ facts: APNsPayload.Facts) -> Bool {
      CallbackTable(facts).cells.contains { $0.generation == .from10 && $0.duplicates }
    }
    #expect(repeats(Self.alertAndAvailable))
    #expect(repeats(Self.alert))
    #expect(repeats(Self.facts(["badge": 1])) == false)
  }

  @Test("the methods have the names by which an app has them")
  func names() {
    #expect(Table.Method.allCases.map(\.rawValue) == ["M1", "M2", "M3", "M4", "M5", "M6", "M7"])
    #expect(Set(Table.Method.allCases.map(\.swiftName)).count == 7)
    #expect(Table.Method.allCases.count { $0.swiftName.contains("handleActionWithIdentifier") } == 2)
    let names = Table.Method.allCases.compactMap(\.jpushName)
    #expect(
      names == [
        "jpushNotificationCenter(_:didReceive:withCompletionHandler:)",
        "jpushNotificationCenter(_:willPresent:withCompletionHandler:)",
      ])
  }

  private static func text(_ calls: [Table.Call]) -> String {
    let marks: [Table.Call.Condition: String] = [
      .always: "", .withPush: "key", .unlessForceQuit: "*", .ifShown: "+", .disputed: "?",
      .withPushAfterForceQuit: "key!",
    ]
    return calls.map { $0.method.rawValue + (marks[$0.condition] ?? "") }.joined(separator: " ")
  }
}
