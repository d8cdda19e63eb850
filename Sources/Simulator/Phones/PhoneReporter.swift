import Foundation
import JSON
package import Logging
import Model

/// Lets simulated phones report what became of their pushes, as the code of a real app does (docs/protocols.md §8.2):
/// displayed when it is shown, opened by a tap, dismissed when it is cleared.
///
/// Real phones know less: iOS calls an app before a push is shown only with `mutable-content`, and Android shows
/// notifications by itself while the app is not open.
package struct PhoneReporter: Sendable {
  /// Sends one body to `POST /receipts`; throws if it was not taken.
  package typealias Post = @Sendable (_ body: [UInt8]) async throws -> Void

  /// What a payload carried for its report.
  private struct Mark {
    let id: String
    let signature: String

    init?(_ notification: ReceivedNotification) {
      // FCM's data is inside of its message.
      let json = notification.pushType == nil ? notification.json["data"] : notification.json
      guard let id = json?[APNsPayload.idKey]?.string, let signature = json?[APNsPayload.signatureKey]?.string
      else { return nil }
      (self.id, self.signature) = (id, signature)
    }
  }

  private let phones: PhoneBook
  private let changes: AsyncStream<PhoneChange>
  /// What a person could tap or clear at the beginning, by phone and notification.
  private let first: [Int64: [Int64: Mark]]
  private let post: Post
  private let log: Logger

  /// What happens from now on is reported by ``run()``.
  package init(_ phones: PhoneBook, log: Logger, post: @escaping Post) {
    (self.phones, self.post, self.log) = (phones, post, log.labelled("Simulator"))
    changes = phones.changes()
    var first: [Int64: [Int64: Mark]] = [:]
    for phone in phones.phones() {
      for notification in phone.received where notification.isShown && notification.tapped == nil {
        first[phone.id, default: [:]][notification.id] = Mark(notification)
      }
    }
    self.first = first
  }

  /// Reports until the task is cancelled.
  package func run() async {
    var shown = first
    for await change in changes {
      switch change {
      case .received(let phone, let notification):
        guard let mark = Mark(notification) else { continue }
        if notification.isShown { Self.keep(mark, of: notification.id, in: &shown[phone, default: [:]]) }
        if notification.isShown || notification.appState == .foreground && !notification.isDenied {
          await report(.displayed, [mark], phone)
        }
      case .updated(let phone, let notification):
        guard notification.tapped != nil, let mark = shown[phone]?.removeValue(forKey: notification.id) else {
          continue
        }
        await report(.opened, [mark], phone)
      case .cleared(let phone):
        let marks = shown.removeValue(forKey: phone) ?? [:]
        await report(.dismissed, marks.sorted { $0.key < $1.key }.map(\.value), phone)
      case .removed(let phone): shown[phone] = nil
      case .added, .changed, .waits: continue
      }
    }
  }

  /// Adds a notification. As on the phone, the oldest gives way.
  private static func keep(_ mark: Mark, of notification: Int64, in shown: inout [Int64: Mark]) {
    shown[notification] = mark
    if shown.count > SimulatedPhone.receivedLimit, let oldest = shown.keys.min() { shown[oldest] = nil }
  }

  private func report(_ kind: ReceiptKind, _ marks: [Mark], _ id: Int64) async {
    guard !marks.isEmpty, let phone = phones.phone(id), phone.state == .installed, phone.power == .on else { return }
    let receipts = marks.map { mark -> JSONValue in
      [
        APNsPayload.idKey: .string(mark.id), APNsPayload.signatureKey: .string(mark.signature),
        "event": .string(kind.name),
      ]
    }
    let sender = phone.provider == .jpush ? "registration_id" : "token"
    let body: JSONValue = [sender: .string(phone.tokenText), "receipts": .array(receipts)]
    do {
      try await post(body.bytes)
    } catch {
      log.warning("a simulated phone could not report", ["phone": phone.name, "error": "\(error)"])
    }
  }
}
