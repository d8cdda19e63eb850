import HTTPServer
import Simulator
import Store

extension SimulatorAPI {
  /// Carries a call out once, however often it is repeated with its `Idempotency-Key`.
  static func once(
    _ call: Call, content: [UInt8], _ body: () throws -> Idempotency.Answer
  ) throws -> Response {
    guard let key = try Idempotency.key(of: call.request) else { return try body().response }
    do {
      let answer = try call.simulator().answered.answer("\(call.caller) \(key)", content: content, now: call.now) {
        let answer = try body()
        return AnsweredCalls.Answer(status: answer.status, body: answer.body, location: answer.location)
      }
      return Idempotency.Answer(status: answer.status, body: answer.body, location: answer.location).response
    } catch is AnsweredCalls.Mismatch {
      throw Idempotency.Mismatch()
    }
  }
}
