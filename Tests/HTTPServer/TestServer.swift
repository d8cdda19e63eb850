import Foundation
import Glibc
import HTTPServer
import Reactor
import Synchronization
import TestSupport
import Testing

/// What a server sent until it closed.
struct Answer: Sendable {
  let bytes: [UInt8]
  var text: String { String(decoding: bytes, as: UTF8.self) }
  /// The codes of all status lines. No body of these tests begins a line like one.
  var statuses: [Int] {
    text.components(separatedBy: "HTTP/1.1 ").dropFirst().compactMap { Int($0.prefix(3)) }
  }
  /// What follows the first head.
  var body: String { text.components(separatedBy: "\r\n\r\n").dropFirst().joined(separator: "\r\n\r\n") }
}

extension PlainSocket {
  /// Whether bytes or the end have come, or come in so many milliseconds.
  func hasAnswer(within milliseconds: Int32) -> Bool {
    var wanted = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&wanted, 1, milliseconds) > 0
  }

  /// Everything until the server closes.
  func receiveAll() -> Answer { Answer(bytes: bytes()) }

  /// Everything until `end` has come, or the server closes.
  func receive(until end: String) -> Answer { Answer(bytes: bytes(until: end)) }

  func endWriting() { shutdown(descriptor, Int32(SHUT_WR)) }

  /// Ends with a reset instead of an orderly close.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close()
  }
}

/// A running server and threads for clients that wait.
struct TestServer: Sendable {
  let address: SocketAddress
  let server: Server
  let connections: ConnectionCount
  let threads: BlockingPool

  var url: String { "http://\(address)" }

  /// Sends bytes, then reads until the server closes.
  func exchange(_ bytes: [UInt8]) async throws -> Answer {
    try await connected { client in
      client.send(bytes)
      return client.receiveAll()
    }
  }

  func exchange(_ text: String) async throws -> Answer { try await exchange(Array(text.utf8)) }

  /// Runs `body` with a connection, on a thread where it may wait.
  func connected<Value: Sendable>(_ body: @escaping @Sendable (PlainSocket) throws -> Value) async throws -> Value {
    let address = address
    return try await threads.run {
      let client = try PlainSocket(address)
      defer { client.close() }
      return try body(client)
    }
  }

  /// Runs a program and returns what it wrote to standard output.
  func run(_ arguments: [String]) async throws -> String {
    try await OtherProgram.run(arguments[0], Array(arguments.dropFirst()), separate: true).output
  }
}

/// Starts a server on a free port of the loopback, and stops it on every path.
func withServer<Value>(
  _ router: Router, configure: (inout ServerConfiguration) -> Void = { _ in },
  _ body: (TestServer) async throws -> Value
) async throws -> Value {
  var configuration = ServerConfiguration(address: try #require(SocketAddress("127.0.0.1:0")))
  configure(&configuration)
  let server = Server(configuration, router)
  let address = try await server.start()
  let threads = BlockingPool(name: "client", threads: 4)
  defer { threads.stop() }
  do {
    let value = try await body(
      TestServer(address: address, server: server, connections: configuration.connections, threads: threads))
    await server.stop(within: .seconds(1))
    return value
  } catch {
    await server.stop(within: .seconds(1))
    throw error
  }
}

/// Something that happens once, and can be waited for.
final class Signal<Value: Sendable>: Sendable {
  private let stream: AsyncStream<Value>
  private let continuation: AsyncStream<Value>.Continuation

  init() { (stream, continuation) = AsyncStream.makeStream() }

  func send(_ value: Value) { continuation.yield(value) }

  /// The next value that was sent.
  func next() async -> Value? {
    for await value in stream { return value }
    return nil
  }
}

extension Signal where Value == Void {
  func send() { send(()) }
}

/// A list that several threads append to.
final class Recorder<Value: Sendable>: Sendable {
  private let values = Mutex<[Value]>([])
  var all: [Value] { values.withLock { $0 } }
  func add(_ value: Value) { values.withLock { $0.append(value) } }
}

/// A folder that is removed afterwards.
func withFolder<Value>(_ body: (String) async throws -> Value) async throws -> Value {
  let path = try temporaryFolder().path
  // Left behind only if the system refuses, which is no concern of the test.
  defer { try? FileManager.default.removeItem(atPath: path) }
  return try await body(path)
}

extension Router {
  /// Serves the files of a folder.
  mutating func serve(_ files: StaticFiles, at pattern: String) {
    get(pattern) { request in
      guard let answer = try await files.response(to: request, path: request.parameters.rest) else {
        throw HTTPError(.notFound)
      }
      return answer
    }
  }
}
