import Store

/// The devices in flight, and the ID up to which all devices have their outcome.
///
/// Devices are handed out in pages, ordered by ID; results arrive in any order. The cursor moves page by page, so that
/// the state does not grow with the audience.
struct Walk: Sendable {
  private struct Page {
    let last: Int64
    var open: Set<Int64>
  }

  private var pages: [Page] = []
  /// Every device up to this ID has its outcome.
  private(set) var cursor: Int64
  /// The last ID handed out.
  private(set) var handedOut: Int64
  /// Whether the whole audience was handed out.
  var isAtEnd = false
  /// Whether every device has its outcome or waits.
  var isDone: Bool { isAtEnd && pages.isEmpty }

  /// The first cursor.
  private let start: Int64
  /// The number of devices handed out.
  private var count = 0

  init(cursor: Int64) {
    self.cursor = cursor
    handedOut = cursor
    start = cursor
  }

  /// - Parameter limit: the requested number of devices; a smaller page is the last one.
  mutating func handOut(_ members: [AudienceMember], atMost limit: Int) {
    if members.count < limit { isAtEnd = true }
    guard let last = members.last?.id else { return }
    handedOut = last
    pages.append(Page(last: last, open: Set(members.map(\.id))))
    count += members.count
  }

  /// Estimates the ID up to which `devices` more devices will be found, from the density so far.
  func reach(_ devices: Int) -> Int64 {
    guard count > 0, devices > 0 else { return handedOut }
    let step = Double(handedOut - start) / Double(count)
    return handedOut + Int64((step * Double(devices)).rounded(.up))
  }

  /// The device has its outcome or is waiting.
  mutating func finish(_ device: Int64) {
    for index in pages.indices where device <= pages[index].last {
      pages[index].open.remove(device)
      break
    }
    while let first = pages.first, first.open.isEmpty {
      cursor = first.last
      pages.removeFirst()
    }
  }
}
