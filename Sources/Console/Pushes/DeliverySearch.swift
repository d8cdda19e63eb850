import HTTPServer
import Model
import Store

/// Parses the search field and filters of a push's device list.
enum DeliverySearch {
  /// In place of an outcome: devices that wait for another attempt.
  static let waiting = "pending"

  static func filter(_ page: PageContext) -> DeliveryFilter {
    var filter = DeliveryFilter()
    filter.outcome = OutcomeKind.allCases.first { $0.name == page.query["outcome"] }
    filter.isWaiting = page.query["outcome"] == waiting
    filter.reason = page.filled("reason")
    if let text = page.filled("q") {
      filter.search = [.alias(text), .registrationID(text)]
      if let bytes = TokenPrefix.bytes(text) { filter.search.append(.token(bytes)) }
    }
    return filter
  }
}
