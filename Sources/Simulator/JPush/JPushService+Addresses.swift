import Model

/// What JPush answers where it has nothing to call.
extension JPushService {
  static func family(_ call: SimulatedCall) -> JPushFamily {
    JPushFamily(path: "/" + call.path.joined(separator: "/")) ?? .push
  }

  /// An address that JPush does not have, or a method that the address does not take.
  static func unserved(_ call: SimulatedCall) -> SimulatedReply {
    let family = family(call)
    let isKnown = addresses.contains { address in
      address.count == call.path.count && zip(address, call.path).allSatisfy { $0 == $1 || $0 == "*" }
    }
    let code = family.code(status: isKnown ? 405 : 404)
    let text = isKnown ? "This address does not take \(call.method)." : "There is no such address."
    var reply = SimulatedReply(JPushError(code, text), status: isKnown ? 405 : 404)
    reply.reason = "JPush \(code.rawValue)"
    return reply
  }

  /// Of the API; `*` is any name.
  private static let addresses = [
    "v3/push", "v3/push/*", "v3/push/batch/regid/single", "v3/push/batch/alias/single", "v3/received",
    "v3/received/detail", "v3/messages", "v3/messages/detail", "v3/users", "v3/status/message", "v3/schedules",
    "v3/schedules/*", "v3/schedules/*/msg_ids", "v3/devices/*", "v3/aliases/*", "v3/tags", "v3/tags/*",
    "v3/tags/*/registration_ids/*",
  ].map { $0.split(separator: "/").map(String.init) }
}
