extension CallbackTable {
  /// One situation: what happens on arrival, and after the person's action.
  package struct Cell: Sendable, Hashable {
    package let generation: Generation
    package let state: State
    package let backgroundMode: Bool
    /// The row of docs/protocols.md §5; nil: the push has no effect there.
    package let row: Int?
    package let arrival: [Call]
    package let banner: Banner
    /// Calls when the person taps the banner.
    package let tap: [Call]
    /// The effect of opening the app by its icon.
    package let icon: IconTap
    /// How often the app's code receives this push, up to and including the tap.
    package let calls: ClosedRange<Int>
    package let sources: [Source]
    package let contradictions: [CallbackContradiction]
    package let notes: [CallbackNote]

    /// Whether the app's code may receive the push more than once.
    package var duplicates: Bool { calls.upperBound > 1 }

    /// Whether the same happens as in another situation, whatever the sources of the two.
    package func hasSameEffect(as other: Self) -> Bool {
      arrival == other.arrival && banner == other.banner && tap == other.tap && icon == other.icon
        && calls == other.calls
    }
  }
}

extension CallbackTable.Cell {
  init(
    _ facts: APNsPayload.Facts, _ generation: CallbackTable.Generation, _ state: CallbackTable.State,
    backgroundMode: Bool
  ) {
    let number =
      facts.isVisible
      ? Self.visible(facts.contentAvailable, generation, state, backgroundMode)
      : Self.silent(facts.contentAvailable, generation, state, backgroundMode)
    let row = number.map { CallbackTable.rows[$0 - 1] }
    (self.generation, self.state, self.backgroundMode, self.row) = (generation, state, backgroundMode, number)
    var arrival = row?.arrival ?? []
    var contradictions = row?.contradictions ?? []
    var calls = row?.calls ?? 0...0
    var byIcon = row?.icon
    if number == 19, state == .notRunning {
      // §5 row 19 covers foreground and background; otherwise Apple's page applies, with C5's condition.
      arrival = CallbackTable.backgroundLaunch
      contradictions = [.c5]
      calls = 0...2
      byIcon = .lostAfterForceQuit
    }
    // Of S004 it is C4's remark, for the foreground too.
    if number == 11, backgroundMode { contradictions.append(.c4) }
    if number == 4, !facts.isVisible, facts.contentAvailable { contradictions.append(.c3) }
    if number == 13, !facts.isVisible {
      // willPresent is for visible pushes; the fetch call is the subject of C7.
      arrival = arrival.filter { $0.method == .fetch }
      calls = 0...1
    }
    (self.arrival, self.contradictions) = (arrival, contradictions)
    var notes = row?.notes ?? []
    if facts.alert {
      banner = row?.banner ?? .no
      tap = row?.tap ?? []
      icon = byIcon ?? (state == .foreground ? .notApplicable : .nothing)
    } else {
      // Without an alert there is nothing to tap, whatever badge and sound do.
      banner = .no
      tap = []
      icon = state == .foreground ? .notApplicable : byIcon == .pushLost ? .nothing : byIcon ?? .nothing
      notes.removeAll { !Self.holds($0, without: arrival) }
      if facts.isVisible {
        let sure = arrival.count { $0.condition == .always || $0.condition == .withPush }
        calls = sure...arrival.count
        notes.append(.noAlert)
      }
    }
    if number == nil { notes.append(.nothingHappens) }
    self.calls = calls
    self.notes = notes + (calls.upperBound > 1 ? [.dropRepeats] : [])
    sources = row?.sources ?? [.apple]
  }

  /// Whether a note says something of a push without an alert.
  private static func holds(_ note: CallbackNote, without arrival: [CallbackTable.Call]) -> Bool {
    switch note {
    case .actionButtons: false
    case .remoteTrigger: arrival.contains { $0.method == .present }
    case .receiveIfNoFetch: !arrival.isEmpty
    default: true
    }
  }

  /// The row for a push with alert, badge or sound.
  private static func visible(
    _ contentAvailable: Bool, _ generation: CallbackTable.Generation, _ state: CallbackTable.State, _ mode: Bool
  ) -> Int {
    switch (generation, state) {
    case (.before7, .foreground): 1
    case (.before7, .background): 2
    case (.before7, .notRunning): 3
    case (.from7to9, .foreground): 4
    case (.from7to9, .background): contentAvailable ? (mode ? 5 : 6) : (mode ? 7 : 8)
    case (.from7to9, .notRunning): contentAvailable && mode ? 10 : 9
    case (.from10, .foreground): contentAvailable ? (mode ? 12 : 13) : 11
    case (.from10, .background): mode ? (contentAvailable ? 14 : 15) : 16
    case (.from10, .notRunning): contentAvailable && mode ? 18 : 17
    }
  }

  private static func silent(
    _ contentAvailable: Bool, _ generation: CallbackTable.Generation, _ state: CallbackTable.State, _ mode: Bool
  ) -> Int? {
    switch (generation, state) {
    case (.before7, .foreground): 1
    case (.before7, _): nil
    case (_, _) where contentAvailable && mode: 19
    case (.from7to9, .foreground): 4
    case (.from10, .foreground): contentAvailable ? 13 : nil
    default: nil
    }
  }
}
