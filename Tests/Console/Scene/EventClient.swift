import Foundation
import Reactor
import TestSupport

/// A plain socket that waits, on a thread of its own.
enum EventClient {
  /// Sends a request and reads until the server closes.
  ///
  /// - Parameter begun: called once, when the first event is there.
  static func read(
    _ address: SocketAddress, _ request: String, begun: @escaping @Sendable () -> Void
  ) async throws -> String {
    try await withCheckedThrowingContinuation { continuation in
      Thread { continuation.resume(with: Result { try exchange(address, request, begun) }) }.start()
    }
  }

  private static func exchange(_ address: SocketAddress, _ request: String, _ begun: () -> Void) throws -> String {
    let client = try PlainSocket(address)
    defer { client.close() }
    guard client.send(request) else { throw SceneError.noConnection }
    var all: [UInt8] = []
    var isBegun = false
    // A stream that never ends beats on: it is left after a while, without its end.
    let end = ContinuousClock.now + .seconds(30)
    while ContinuousClock.now < end, let bytes = client.receive() {
      all += bytes
      if !isBegun, String(decoding: all, as: UTF8.self).contains("data: ") {
        isBegun = true
        begun()
      }
    }
    return String(decoding: all, as: UTF8.self)
  }
}
