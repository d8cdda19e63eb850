import Mail
import Model
import Reactor

extension Problem {
  /// What is wrong with an entered URL; nil: nothing.
  ///
  /// - Parameters:
  ///   - plain: hosts that may be reached without TLS.
  ///   - scheme: for an address that is not https, or no URL.
  static func address(_ field: String, _ text: String, plain: TargetList, else scheme: Problem) -> Problem? {
    switch WebAddress.trouble(text, plain: plain) {
    case nil: nil
    case .scheme: scheme
    case .length: Problem(field, WebAddressMessage.length)
    case .blank: Problem(field, WebAddressMessage.blank)
    case .user: Problem(field, WebAddressMessage.user)
    case .fragment: Problem(field, WebAddressMessage.fragment)
    case .port: Problem(field, WebAddressMessage.port)
    case .letters(let ascii): Problem(field, WebAddressMessage.letters, ["url": ascii])
    }
  }
}
