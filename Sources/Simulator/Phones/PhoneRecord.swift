import Foundation

/// One phone inside a phone book: history in order of arrival, and what is not saved yet.
struct PhoneRecord {
  /// With empty `received`, which is in ``history``.
  var phone: SimulatedPhone
  private(set) var history: NotificationHistory
  /// IDs of new or changed notifications that are not saved.
  private(set) var dirty: Set<Int64> = []
  /// IDs of deleted notifications that storage may have.
  private(set) var removed: [Int64] = []
  /// The last saved ID.
  private var keptThrough: Int64 = 0

  init(_ phone: SimulatedPhone, keptThrough: Int64 = 0) {
    self.phone = phone
    self.phone.received = []
    history = NotificationHistory(phone.received.reversed())
    self.keptThrough = keptThrough
  }

  /// The phone for callers.
  var snapshot: SimulatedPhone {
    var phone = phone
    phone.received = history.newestFirst
    return phone
  }

  /// Adds a notification: as a repetition of an existing one, or as a new one, which may replace another.
  ///
  /// - Returns: its present state, and whether it is a repetition.
  mutating func receive(_ notification: ReceivedNotification) -> (notification: ReceivedNotification, isRepeat: Bool) {
    if let id = history.id(apnsID: notification.apnsID), let repeated = history.update(id, { $0.duplicates += 1 }) {
      dirty.insert(id)
      return (repeated, true)
    }
    let (added, gone) = history.append(notification)
    dirty.insert(added.id)
    gone.forEach { forget($0) }
    return (added, false)
  }

  /// - Returns: nil if there is no such notification.
  mutating func update(_ id: Int64, _ body: (inout ReceivedNotification) -> Void) -> ReceivedNotification? {
    guard let updated = history.update(id, body) else { return nil }
    dirty.insert(id)
    return updated
  }

  mutating func clear() {
    history.ids.forEach { forget($0) }
    history = NotificationHistory([])
  }

  private mutating func forget(_ id: Int64) {
    dirty.remove(id)
    // Never saved notifications need no removal, so that slow storage cannot make this list grow.
    if id <= keptThrough { removed.append(id) }
  }

  /// The unsaved changes; afterwards they count as saved.
  mutating func takeWrite() -> PhoneWrite {
    let changed = dirty.sorted().compactMap { history.notification($0) }
    defer {
      keptThrough = max(keptThrough, changed.last?.id ?? 0)
      (dirty, removed) = ([], [])
    }
    return .save(phone, notifications: changed, removed: removed)
  }

  /// Restores changes that storage failed to save.
  mutating func putBack(_ notifications: [ReceivedNotification], removed ids: [Int64]) {
    for notification in notifications {
      if history.notification(notification.id) == nil {
        removed.append(notification.id)
      } else {
        dirty.insert(notification.id)
      }
    }
    removed += ids
  }
}

/// Notifications in order of arrival, at most ``SimulatedPhone/receivedLimit``, found by ID and by `apns-id`.
struct NotificationHistory {
  private struct CollapseKey: Hashable {
    let topic: String
    let collapseID: String
  }

  /// In ascending order of ID. May hold up to twice the limit, so that not every arrival moves all of them.
  private var items: [ReceivedNotification] = []
  /// The index of the first one within the limit.
  private var start = 0
  private var byAPNsID: [String: Int64] = [:]
  private var byCollapseID: [CollapseKey: Int64] = [:]

  init(_ oldestFirst: [ReceivedNotification]) {
    for notification in oldestFirst.suffix(SimulatedPhone.receivedLimit) { add(notification) }
  }

  var newestFirst: [ReceivedNotification] { items[start...].reversed() }
  var ids: [Int64] { items[start...].map(\.id) }

  func id(apnsID: String) -> Int64? { byAPNsID[apnsID] }

  func notification(_ id: Int64) -> ReceivedNotification? { position(id).map { items[$0] } }

  mutating func update(_ id: Int64, _ body: (inout ReceivedNotification) -> Void) -> ReceivedNotification? {
    guard let position = position(id) else { return nil }
    body(&items[position])
    return items[position]
  }

  /// - Returns: the notification, and the IDs removed for it.
  mutating func append(_ notification: ReceivedNotification) -> (added: ReceivedNotification, gone: [Int64]) {
    var notification = notification
    var gone: [Int64] = []
    if let key = Self.collapseKey(notification), let old = byCollapseID[key], let position = position(old) {
      notification.replaced = items[position].replaced + 1
      byAPNsID[items[position].apnsID] = nil
      items.remove(at: position)
      gone.append(old)
    }
    add(notification)
    if items.count - start > SimulatedPhone.receivedLimit { gone.append(dropOldest()) }
    return (notification, gone)
  }

  private mutating func add(_ notification: ReceivedNotification) {
    items.append(notification)
    byAPNsID[notification.apnsID] = notification.id
    if let key = Self.collapseKey(notification) { byCollapseID[key] = notification.id }
  }

  private mutating func dropOldest() -> Int64 {
    let oldest = items[start]
    byAPNsID[oldest.apnsID] = nil
    if let key = Self.collapseKey(oldest), byCollapseID[key] == oldest.id { byCollapseID[key] = nil }
    start += 1
    if start > SimulatedPhone.receivedLimit {
      items.removeFirst(start)
      start = 0
    }
    return oldest.id
  }

  private func position(_ id: Int64) -> Int? {
    var (low, high) = (start, items.count)
    while low < high {
      let middle = (low + high) / 2
      if items[middle].id < id { low = middle + 1 } else { high = middle }
    }
    return low < items.count && items[low].id == id ? low : nil
  }

  private static func collapseKey(_ notification: ReceivedNotification) -> CollapseKey? {
    (notification.pushType == nil ? notification.tag : notification.collapseID).map {
      CollapseKey(topic: notification.topic, collapseID: $0)
    }
  }
}
