package import Foundation
package import JSON
import Model

/// A Live Activity on a phone, made of the pushes that started, updated and ended it.
package struct LiveActivity: Sendable, Hashable {
  /// How long iOS leaves one on the lock screen after its end, unless the push says otherwise.
  private static let stay: TimeInterval = 4 * 3600

  /// In order of arrival.
  package private(set) var pushes: [ReceivedNotification] = []
  /// The ID of the push whose content it shows.
  package private(set) var current: Int64 = 0
  /// IDs of pushes that arrived after a newer one, by their timestamps: iOS ignores them.
  package private(set) var ignored: Set<Int64> = []
  /// The last content; the end of an activity may have none of its own.
  package private(set) var content: [String: JSONValue] = [:]
  /// When it leaves the lock screen; nil: it has not ended.
  package private(set) var dismissal: Date?
  private var timestamp: Int64?

  /// The last content, if it is this push that shows it.
  package func content(at push: ReceivedNotification) -> [String: JSONValue]? { push.id == current ? content : nil }

  package func isDismissed(at now: Date) -> Bool { dismissal.map { $0 <= now } ?? false }

  /// Whether it shows a push with a later timestamp.
  fileprivate func isNewer(than aps: JSONValue?) -> Bool {
    guard let timestamp, let time = aps?["timestamp"]?.integer else { return false }
    return time < timestamp
  }

  fileprivate mutating func add(_ push: ReceivedNotification, _ aps: JSONValue?) {
    pushes.append(push)
    if isNewer(than: aps) {
      ignored.insert(push.id)
      return
    }
    (current, timestamp) = (push.id, aps?["timestamp"]?.integer ?? timestamp)
    content = aps?["content-state"]?.object ?? content
    guard aps?["event"]?.string == "end" else { return }
    dismissal =
      (aps?["dismissal-date"]?.integer).map { Date(timeIntervalSince1970: Double($0)) }
      ?? push.receivedAt.addingTimeInterval(Self.stay)
  }
}

extension SimulatedPhone {
  /// The Live Activities that it received, by the ID of each of their pushes.
  ///
  /// A phone runs one for its token and one for each channel: a simulated app has no tokens of single activities. An
  /// update without a start belongs to one that the app itself has started, unless it is late: older than the end of the
  /// last one.
  package var activities: [Int64: LiveActivity] {
    var all: [LiveActivity] = []
    var latest: [String: Int] = [:]
    for push in received.reversed() where push.pushType == .liveactivity && push.isShown {
      let aps = push.json["aps"]
      let isStart = aps?["event"]?.string == "start"
      let key = push.channel ?? (isStart ? aps?["input-push-channel"]?.string : nil) ?? ""
      var index = all.count
      if !isStart, let last = latest[key], all[last].dismissal == nil || all[last].isNewer(than: aps) { index = last }
      if index == all.count { all.append(LiveActivity()) }
      all[index].add(push, aps)
      latest[key] = index
    }
    return Dictionary(uniqueKeysWithValues: all.flatMap { one in one.pushes.map { ($0.id, one) } })
  }

  /// What it received, newest first: of a Live Activity only the push whose content it shows.
  package var entries: [ReceivedNotification] {
    let activities = activities
    return received.filter { activities[$0.id]?.current ?? $0.id == $0.id }
  }
}
