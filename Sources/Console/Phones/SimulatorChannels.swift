import HTTPServer
import JSON
import Model
import Simulator
import Store

/// The simulator's broadcast channels in its control API: what there is, and which phones subscribed.
enum SimulatorChannels {
  static let operations = [
    SimulatorAPI.Operation(.get, "/channels", role: .viewer) { call in
      let channels = try call.simulator().channels.all
      return APIContext.answer { json in json.member("items", channels.map(ChannelAnswer.init)) }
    },
    SimulatorAPI.Operation(.post, "/phones/:id/subscribe", role: .operator) { call in
      try await change(call) { book, phone, id throws(ChannelBook.Problem) in try book.subscribe(phone, to: id) }
    },
    SimulatorAPI.Operation(.post, "/phones/:id/unsubscribe", role: .operator) { call in
      try await change(call) { book, phone, id throws(ChannelBook.Problem) in try book.unsubscribe(phone, from: id) }
    },
  ]

  private static func change(
    _ call: SimulatorAPI.Call, _ body: (ChannelBook, SimulatedPhone, String) throws(ChannelBook.Problem) -> Void
  ) async throws -> Response {
    let fields = JSONFields(try await APIContext.body(of: call.request))
    let channel = fields.string("channel", required: true, check: ChannelID.problem(with:))
    try fields.finish()
    let id: Int64 = try call.request.parameter("id")
    let simulator = try call.simulator()
    guard let phone = simulator.phones.phone(id) else {
      throw APIError(.notFound, PhoneBookError.noSuchPhone(id).description)
    }
    do throws(ChannelBook.Problem) {
      try body(simulator.channels, phone, channel ?? "")
    } catch {
      switch error {
      case .noSuchChannel: throw APIError(.notFound, "There is no such channel.")
      case .otherApp: throw APIError(.conflict, "The channel is of another app or environment than the phone's.")
      }
    }
    let found = simulator.channels.all.filter { $0.id == channel }.map(ChannelAnswer.init)
    return APIContext.answer { json in json.member("items", found) }
  }
}

/// The schema `SimulatedChannel`.
private struct ChannelAnswer: JSONObject {
  let channel: ChannelBook.Channel

  func writeMembers(to json: inout JSONWriter) {
    json.member("channel", channel.id)
    json.member("app", channel.app)
    json.member("environment", channel.environment.rawValue)
    json.member("storage", channel.policy.word.rawValue)
    json.array("phones", channel.subscribers.sorted()) { json, id in json.integer(id) }
    json.member("accepted", channel.accepted)
  }
}
