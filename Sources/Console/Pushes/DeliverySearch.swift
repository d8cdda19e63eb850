import HTTPServer
import Model
import Store

/// Parses the search field and filters of a push's device list.
enum DeliverySearch {
  /// In place of an outcome: devices that wait for another attempt.
  static let waiting = "pending"
  static let names = ["q", "outcome", "reason", "platform", "provider", "receipt"]

  static func filter(_ page: PageContext) throws -> DeliveryFilter {
    var filter = DeliveryFilter()
    filter.isWaiting = page.filled("outcome") == waiting
    if !filter.isWaiting {
      filter.outcome = try page.filter("outcome") { name in OutcomeKind.allCases.first { $0.name == name } }
    }
    filter.reason = page.filled("reason")
    filter.platform = try page.filter("platform", Platform.init(rawValue:))
    filter.provider = try page.filter("provider", ProviderKind.init(rawValue:))
    filter.receipt = try page.filter("receipt", ReceiptKind.init(name:))
    if let text = page.filled("q") {
      filter.search = [.alias(text), .registrationID(text)]
      filter.search += [TokenPrefix.bytes(text), TokenPrefix.characters(text)].compactMap(\.self).map { .token($0) }
    }
    return filter
  }
}
