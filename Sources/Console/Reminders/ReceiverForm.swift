import Foundation
import JSON
import Mail
import Model
import Reactor
import Store

/// A receiver from the form or the API, validated.
struct ReceiverForm {
  static let nameLimit = 100
  static let languages = ["en", "zh-Hans"]

  var channel = Receiver.Channel.email
  var name = ""
  /// An email address or a webhook's URL; nil: unchanged.
  var address: String?
  /// The key that signs webhook messages; nil: unchanged.
  var secret: String?
  var language = "en"
  var appID: Int64?
  var isActive = true
  var getsIncidents = false

  /// - Parameter plain: hosts that may be reached without TLS.
  func problems(plain: TargetList) -> [Problem] {
    var problems = [AppName.problem(withRequiredName: name, limit: Self.nameLimit)?.under("name")].compactMap(\.self)
    if !Self.languages.contains(language) {
      problems.append(
        Problem(
          "language", FieldMessage.expectedChoice,
          ["choices": Self.languages.joined(separator: ", "), "value": String(language.prefix(40))]))
    }
    if let secret, secret.unicodeScalars.count > 200 {
      problems.append(Problem("secret", code: "receiver.secret", "The secret must have at most 200 characters."))
    }
    guard let address else { return problems }
    if channel == .email, MailAddress(address) == nil {
      problems.append(Problem("address", code: "receiver.mail", "Must be an email address, e.g. ops@example.com."))
    }
    let scheme = Problem(
      "address", code: "receiver.web",
      "Must be a webhook URL that starts with https:// (http:// only for this machine, and for hosts of --allow-http).")
    if channel != .email, let problem = Problem.address("address", address, plain: plain, else: scheme) {
      problems.append(problem)
    }
    return problems
  }

  /// The stored details, including the part of the address that may be shown.
  func details(_ before: Receiver?) -> Receiver.Details {
    let shown = address.map { channel == .email ? $0 : WebAddress.host($0) } ?? before?.details.target ?? ""
    return Receiver.Details(
      channel: channel, name: name, target: shown, language: language, appID: appID, isActive: isActive,
      getsIncidents: getsIncidents)
  }

  /// The secrets to seal; nil: unchanged.
  func secrets(_ before: Receiver.Secrets?) -> Receiver.Secrets? {
    guard address != nil || secret != nil else { return nil }
    return Receiver.Secrets(address: address ?? before?.address ?? "", secret: secret ?? before?.secret ?? "")
  }
}

extension Receiver.Details {
  var revision: Revision {
    Revision(name, target, language, appID.map { String($0) }, String(isActive), String(getsIncidents))
  }
}

extension Receiver {
  /// For the audit log.
  var audited: JSONValue {
    [
      "channel": .string(details.channel.rawValue), "name": .string(details.name), "target": .string(details.target),
      "language": .string(details.language), "active": .bool(details.isActive),
      "incidents": .bool(details.getsIncidents),
    ]
  }
}
