import Foundation
import HTTP2
import Testing

/// Our client against other people's servers, which are strict each in its own way.
@Suite("HTTP/2 client with others' servers", .serialized, .timeLimit(.minutes(5)))
struct ClientInteropTests {
  static let nghttpdPath = "/usr/sbin/nghttpd"

  @Test(
    "nghttpd gives every body back, with padding, small windows, small tables, few streams, trailers",
    .enabled(if: OtherServer.has(nghttpdPath)),
    arguments: [
      [], ["--padding=255"], ["--header-table-size=0"], ["--encoder-header-table-size=0"], ["--window-bits=4"],
      ["--connection-window-bits=20"], ["--max-concurrent-streams=3"], ["--trailer=x-end: yes"],
      ["--early-response", "--padding=10"], ["--no-content-length", "--header-table-size=64", "--window-bits=8"],
    ])
  func nghttpd(options: [String]) async throws {
    let body = (0..<212).map { UInt8(truncatingIfNeeded: 32 + $0 % 90) }
    try await OtherServer.run(
      Self.nghttpdPath, arguments: ["--address", "127.0.0.1", "--echo-upload"] + options + ["0", "KEY", "CERTIFICATE"]
    ) { client in
      let ended = await client.send(1500, body: body, fields: [HeaderField("content-type", "application/json")])
      #expect(ended.statuses == [200: 1500])
      #expect(ended.details.count == 1500)
      #expect(ended.details.values.allSatisfy { $0.body == body })
    }
  }

  @Test(
    "nghttpd gives back bodies that differ in a part, as FCM's messages in their tokens",
    .enabled(if: OtherServer.has(nghttpdPath)), arguments: [[], ["--window-bits=4"]])
  func parts(options: [String]) async throws {
    try await OtherServer.run(
      Self.nghttpdPath, arguments: ["--address", "127.0.0.1", "--echo-upload"] + options + ["0", "KEY", "CERTIFICATE"]
    ) { client in
      let ended = await client.send(1500, body: Array(#"{"token":"","title":"Hello"}"#.utf8), gap: 10)
      #expect(ended.statuses == [200: 1500])
      for number in 0..<1500 {
        let body = ended.details[Int64(number)].map { String(decoding: $0.body, as: UTF8.self) }
        #expect(body == #"{"token":"\#(number)","title":"Hello"}"#)
      }
    }
  }

  @Test("nghttpd says 404 with a page", .enabled(if: OtherServer.has(nghttpdPath)))
  func nghttpdWithoutFiles() async throws {
    try await OtherServer.run(Self.nghttpdPath, arguments: ["--address", "127.0.0.1", "0", "KEY", "CERTIFICATE"]) {
      client in
      let ended = await client.send(3000, body: [UInt8](repeating: 32, count: 212))
      #expect(ended.statuses == [404: 3000])
      #expect(ended.details.values.allSatisfy { !$0.body.isEmpty && $0.fields["content-type"] != nil })
    }
  }

  /// Answers with what it understood: path, field, and length of the body.
  private static let nodeScript = """
    const http2 = require('http2'), fs = require('fs')
    const [key, cert, table, window, frame] = process.argv.slice(2)
    const server = http2.createSecureServer({
      key: fs.readFileSync(key), cert: fs.readFileSync(cert),
      settings: { headerTableSize: +table, initialWindowSize: +window, maxFrameSize: +frame },
      paddingStrategy: http2.constants.PADDING_STRATEGY_MAX, maxSessionInvalidFrames: 0 })
    server.on('stream', (stream, headers) => {
      let count = 0
      stream.on('data', data => { count += data.length })
      stream.on('end', () => {
        stream.respond({ ':status': 200, 'content-type': 'text/plain' })
        stream.end(`${headers[':path']} ${headers['x-number']} ${headers['apns-topic']} ${count}`)
      })
    })
    server.listen(0, '127.0.0.1')
    """

  private func check(_ ended: TestClient.Ended, _ count: Int, bodyBytes: Int) {
    #expect(ended.statuses == [200: count])
    for number in 0..<count {
      let text = ended.details[Int64(number)].map { String(decoding: $0.body, as: UTF8.self) }
      #expect(text == "/\(number) number-\(number) com.example.app \(bodyBytes)")
    }
  }

  @Test(
    "node understands every request, whatever its settings", .enabled(if: OtherServer.has("/usr/bin/node")),
    arguments: [["4096", "65535", "16384"], ["0", "100", "20000"], ["100", "65535", "65536"]])
  func node(settings: [String]) async throws {
    try await OtherServer.run(
      "/usr/bin/node", script: Self.nodeScript, arguments: ["KEY", "CERTIFICATE"] + settings
    ) { client in
      let ended = await client.send(
        1000, body: [UInt8](repeating: 32, count: 1000), fields: [HeaderField("apns-topic", "com.example.app")])
      check(ended, 1000, bodyBytes: 1000)
    }
  }

  static let python = ProcessInfo.processInfo.environment["SIGNALBOX_TEST_PYTHON"]

  /// Python's h2, which aioapns stands on; changes its settings while requests are under way.
  private static let pythonScript = """
    import socket, ssl, sys
    from h2.config import H2Configuration
    from h2.connection import H2Connection
    from h2.events import DataReceived, RequestReceived, StreamEnded
    from h2.settings import SettingCodes
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[2], sys.argv[1])
    context.set_alpn_protocols(["h2"])
    listener = socket.create_server(("127.0.0.1", 0))
    changes = {50: (SettingCodes.HEADER_TABLE_SIZE, 0), 150: (SettingCodes.HEADER_TABLE_SIZE, 200),
               250: (SettingCodes.INITIAL_WINDOW_SIZE, 33), 350: (SettingCodes.HEADER_TABLE_SIZE, 4096),
               450: (SettingCodes.INITIAL_WINDOW_SIZE, 65535), 550: (SettingCodes.MAX_FRAME_SIZE, 20000)}
    while True:
        connection = context.wrap_socket(listener.accept()[0], server_side=True)
        session = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        session.initiate_connection()
        connection.sendall(session.data_to_send())
        requests, count = {}, 0
        while data := connection.recv(65536):
            for event in session.receive_data(data):
                if isinstance(event, RequestReceived):
                    requests[event.stream_id] = [dict(event.headers), 0]
                elif isinstance(event, DataReceived):
                    requests[event.stream_id][1] += len(event.data)
                    session.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
                elif isinstance(event, StreamEnded):
                    fields, size = requests.pop(event.stream_id)
                    count += 1
                    if count in changes:
                        session.update_settings(dict([changes[count]]))
                    text = "%s %s %s %d" % (fields[":path"], fields["x-number"], fields["apns-topic"], size)
                    session.send_headers(event.stream_id, [(":status", "200"), ("x-text", text)])
                    session.send_data(event.stream_id, text.encode(), end_stream=True, pad_length=7)
            connection.sendall(session.data_to_send())
    """

  @Test(
    "Python's h2 understands every request, also while its settings change",
    .enabled(if: python != nil, "SIGNALBOX_TEST_PYTHON is not set: script/test sets it"))
  func pythonH2() async throws {
    let python = try #require(Self.python)
    var configuration = ClientGroupConfiguration.quick
    configuration.connection.maximumStreams = 90
    try await OtherServer.run(
      python, script: Self.pythonScript, arguments: ["KEY", "CERTIFICATE"], configuration: configuration
    ) { client in
      let ended = await client.send(
        1000, body: [UInt8](repeating: 32, count: 300), fields: [HeaderField("apns-topic", "com.example.app")])
      check(ended, 1000, bodyBytes: 300)
    }
  }
}
