import HTTPServer
import Model
import Store

/// Parses the search field and filters of a push's device list.
enum DeliverySearch {
  /// In place of an outcome: devices that wait for another attempt.
  static let waiting = "pending"

  static func filter(_ page: PageContext) throws -> DeliveryFilter {
    var filter = DeliveryFilter()
    filter.isWaiting = page.filled("outcome") == waiting
    if !filter.isWaiting {
      filter.outcome = try page.filter("outcome") { name in OutcomeKind.allCases.first { $0.name == name } }
    }
    filter.reason = page.filled("reason")
    if let text = page.filled("q") {
      filter.search = [.alias(text), .registrationID(text)]
      if let bytes = TokenPrefix.bytes(text) { filter.search.append(.token(bytes)) }
    }
    return filter
  }
}
