import Store

/// Which devices of an audience are under way, and up to which id all have their outcome.
///
/// Devices are handed out in pages in the order of their ids; their results come in any order. The cursor moves page
/// by page, so that what is kept does not grow with the audience.
struct Walk: Sendable {
  private struct Page {
    let last: Int64
    var open: Set<Int64>
  }

  private var pages: [Page] = []
  /// Every device up to this id has its outcome.
  private(set) var cursor: Int64
  /// The last id handed out.
  private(set) var handedOut: Int64
  /// Whether all of the audience was handed out.
  var isAtEnd = false

  /// Where it began.
  private let start: Int64
  /// How many devices were handed out.
  private var count = 0

  init(cursor: Int64) {
    self.cursor = cursor
    handedOut = cursor
    start = cursor
  }

  /// - Parameter limit: how many devices the page could have; fewer: it was the last.
  mutating func handOut(_ members: [AudienceMember], atMost limit: Int) {
    if members.count < limit { isAtEnd = true }
    guard let last = members.last?.id else { return }
    handedOut = last
    pages.append(Page(last: last, open: Set(members.map(\.id))))
    count += members.count
  }

  /// The id up to which about so many more devices will be found, if they lie as they did so far.
  func reach(_ devices: Int) -> Int64 {
    guard count > 0, devices > 0 else { return handedOut }
    let step = Double(handedOut - start) / Double(count)
    return handedOut + Int64((step * Double(devices)).rounded(.up))
  }

  /// A device has its outcome, or waits.
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
