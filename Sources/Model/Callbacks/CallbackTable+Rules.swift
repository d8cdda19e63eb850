import JSON

extension CallbackTable {
  /// The rows of docs/protocols.md §5, for people to read. A row that has other effects in some of its situations, such
  /// as that of silent pushes, is several rules.
  package static let rules: [Rule] = {
    let payloads: [JSONValue] = [["alert": "x"], ["alert": "x", "content-available": 1], ["content-available": 1]]
    var rules: [Rule] = []
    for aps in payloads {
      let facts = APNsPayload.Facts(payload: ["aps": aps])
      for cell in CallbackTable(facts).cells {
        guard let number = cell.row else { continue }
        if let place = rules.firstIndex(where: { $0.number == number && $0.cell.hasSameEffect(as: cell) }) {
          rules[place].add(cell, facts)
        } else {
          rules.append(Rule(number, cell, facts))
        }
      }
    }
    return rules.enumerated().sorted { ($0.element.number, $0.offset) < ($1.element.number, $1.offset) }.map(\.element)
  }()

  /// Situations that one row covers, and in which the same happens.
  package struct Rule: Sendable, Hashable {
    /// The row of docs/protocols.md §5, from 1.
    package let number: Int
    /// One of the situations: what happens, and the row's sources.
    package let cell: Cell
    package private(set) var generations: [Generation]
    package private(set) var states: [State]
    package private(set) var contradictions: [CallbackContradiction]
    package private(set) var notes: [CallbackNote]
    /// Whether the rule covers only pushes without alert, badge and sound.
    package private(set) var isSilent: Bool
    private var conditions: Set<Condition>

    /// Which value of a condition a rule needs.
    package enum Setting: String, Sendable, CaseIterable {
      case yes, no, either
      /// Either, unless the other condition is met too.
      case notBoth = "not_both"
    }

    private struct Condition: Hashable {
      let backgroundMode: Bool
      let contentAvailable: Bool
    }

    fileprivate init(_ number: Int, _ cell: Cell, _ facts: APNsPayload.Facts) {
      (self.number, self.cell) = (number, cell)
      generations = [cell.generation]
      states = [cell.state]
      contradictions = cell.contradictions
      notes = cell.notes
      isSilent = !facts.isVisible
      conditions = [Condition(backgroundMode: cell.backgroundMode, contentAvailable: facts.contentAvailable)]
    }

    fileprivate mutating func add(_ cell: Cell, _ facts: APNsPayload.Facts) {
      if !generations.contains(cell.generation) { generations.append(cell.generation) }
      if !states.contains(cell.state) { states.append(cell.state) }
      contradictions += cell.contradictions.filter { !contradictions.contains($0) }
      notes += cell.notes.filter { !notes.contains($0) }
      if facts.isVisible { isSilent = false }
      conditions.insert(Condition(backgroundMode: cell.backgroundMode, contentAvailable: facts.contentAvailable))
    }

    package var backgroundMode: Setting { setting(\.backgroundMode) }
    package var contentAvailable: Setting { setting(\.contentAvailable) }

    private func setting(_ value: (Condition) -> Bool) -> Setting {
      // Three of four: all but the one in which both are met.
      if conditions.count == 3 { return .notBoth }
      let values = Set(conditions.map(value))
      return values.count > 1 ? .either : values.contains(true) ? .yes : .no
    }
  }
}
