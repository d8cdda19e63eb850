import Foundation
import HTTP2
import Model

/// One text of a push for each language, encoded once.
struct Variants<Message: Sendable>: Sendable {
  /// In the order of ``PushDraft/variants``; at least one.
  let all: [Message]

  /// - Precondition: `all` is not empty.
  init(_ all: [Message]) { self.all = all }

  /// Calls `body` with the devices of each text. A push with one text has them all at once, in one pass.
  func send(
    to devices: [ProviderDevice], noting notes: (any DepartureNotes)?,
    _ body: (Message, [ProviderDevice], (any DepartureNotes)?) -> Void
  ) {
    guard all.count > 1 else { return body(all[0], devices, notes) }
    for (variant, places) in Self.places(devices) {
      let message = all.indices.contains(variant) ? all[variant] : all[0]
      body(message, places.map { devices[$0] }, notes.map { PlacedNotes($0, places) })
    }
  }

  /// Calls `body` with the devices of each platform.
  static func byPlatform(
    _ devices: [ProviderDevice], noting notes: (any DepartureNotes)?,
    _ body: (Platform, [ProviderDevice], (any DepartureNotes)?) -> Void
  ) {
    let first = devices.first?.platform ?? .android
    if devices.allSatisfy({ $0.platform == first }) { return body(first, devices, notes) }
    for platform in Platform.allCases {
      let places = devices.indices.filter { devices[$0].platform == platform }
      body(platform, places.map { devices[$0] }, notes.map { PlacedNotes($0, places) })
    }
  }

  /// The places of the devices of each text, in the order of the texts.
  static func places(_ devices: [ProviderDevice]) -> [(variant: Int, places: [Int])] {
    Dictionary(grouping: devices.indices) { devices[$0].variant }.sorted { $0.key < $1.key }
      .map { (variant: $0.key, places: $0.value) }
  }
}

extension ProviderPush {
  /// Calls `body` with the devices that were first handed over at the same time. Those of a page are, so that there is
  /// one call, except for devices that are tried again.
  func send(
    to devices: [ProviderDevice], noting notes: (any DepartureNotes)?,
    _ body: (_ first: Date, [ProviderDevice], (any DepartureNotes)?) -> Void
  ) {
    let first = devices.first?.firstAt
    guard draft.secondsToLive != nil, devices.contains(where: { $0.firstAt != first }) else {
      return body(first ?? sentAt, devices, notes)
    }
    for (first, places) in Dictionary(grouping: devices.indices, by: { devices[$0].firstAt ?? sentAt })
      .sorted(by: { $0.key < $1.key })
    {
      body(first, places.map { devices[$0] }, notes.map { PlacedNotes($0, places) })
    }
  }
}

/// Notes on some of the devices of a batch.
private final class PlacedNotes: DepartureNotes {
  private let notes: any DepartureNotes
  private let places: [Int]

  init(_ notes: any DepartureNotes, _ places: [Int]) { (self.notes, self.places) = (notes, places) }

  func left(_ index: Int, id: Int64) { notes.left(places[index], id: id) }
  func returned(_ index: Int) { notes.returned(places[index]) }
}
