package import Foundation
internal import Glibc

/// A real mail server (aiosmtpd, of Debian's python3-aiosmtpd) on a free port of this machine, in a process of its own.
package final class SMTPTestServer: Sendable {
  /// How it behaves.
  package struct Mode: Sendable {
    /// `none`, `starttls` or `tls`.
    package var security = "none"
    /// The folder with `cert.pem` and `key.pem` of an `OpenSSLCommand`, for the last two.
    package var identity: URL?
    package var user: String?
    package var password: String?
    /// Receivers that it does not know.
    package var rejected: [String] = []
    /// How many mails are refused with 451 before one is taken.
    package var failures = 0
    /// For how many seconds it thinks about a mail before it takes it.
    package var delay = 0

    package init() {}
  }

  /// A mail that it took over.
  package struct Mail: Sendable, Decodable {
    package let from: String
    package let to: [String]
    package let headers: [String: String]
    package let text: String?
    package let html: String?
  }

  package struct Failure: Error { package let words: String }

  package let port: Int
  private let process: Process
  private let folder: URL

  package init(_ mode: Mode = Mode()) throws {
    folder = try temporaryFolder()
    let script = folder.appendingPathComponent("server.py")
    try Data(Self.script.utf8).write(to: script)
    let settings: [String: Any] = [
      "security": mode.security, "cert": mode.identity?.appendingPathComponent("cert.pem").path ?? "",
      "key": mode.identity?.appendingPathComponent("key.pem").path ?? "", "user": mode.user ?? "",
      "password": mode.password ?? "", "rejected": mode.rejected, "failures": mode.failures,
      "delay": mode.delay,
    ]
    try JSONSerialization.data(withJSONObject: settings).write(to: folder.appendingPathComponent("mode.json"))
    process = Process()
    // Debian's own, which has Debian's packages, whatever stands before it in PATH.
    process.executableURL = URL(fileURLWithPath: "/usr/bin/python3")
    process.arguments = [script.path, folder.path]
    let errors = folder.appendingPathComponent("errors.txt")
    try Data().write(to: errors)
    process.standardError = try FileHandle(forWritingTo: errors)
    let output = Pipe()
    process.standardOutput = output
    process.standardInput = FileHandle.nullDevice
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
      kill(process.processIdentifier, SIGKILL)
      throw Failure(words: (try? String(contentsOf: errors, encoding: .utf8)) ?? "no server")
    }
    self.port = port
  }

  deinit {
    // A child inherits the signals that its parent holds back: SIGTERM may never reach it.
    kill(process.processIdentifier, SIGKILL)
    try? FileManager.default.removeItem(at: folder)  // a left-over folder fails no test
  }

  /// What it took over so far, in order.
  package func mails() throws -> [Mail] {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".mail") }
    return try names.sorted().map {
      try JSONDecoder().decode(Mail.self, from: Data(contentsOf: folder.appendingPathComponent($0)))
    }
  }

  private static let script = """
    import asyncio, base64, email, email.policy, json, os, ssl, sys
    from aiosmtpd.smtp import SMTP, AuthResult
    folder = sys.argv[1]
    mode = json.load(open(os.path.join(folder, 'mode.json')))
    context = None
    if mode['security'] != 'none':
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(mode['cert'], mode['key'])
    count = 0
    failures = mode['failures']

    class Handler:
        async def handle_RCPT(self, server, session, envelope, address, options):
            if address in mode['rejected']:
                return '550 5.1.1 <%s>: nobody of that name here' % address
            envelope.rcpt_tos.append(address)
            return '250 2.1.5 fine'

        async def handle_DATA(self, server, session, envelope):
            global count, failures
            if failures > 0:
                failures -= 1
                return '451 4.3.0 come back later'
            await asyncio.sleep(mode['delay'])
            message = email.message_from_bytes(envelope.content, policy=email.policy.default)
            mail = {'from': envelope.mail_from, 'to': envelope.rcpt_tos,
                    'headers': {k.lower(): str(v) for k, v in message.items()}}
            for kind, name in (('plain', 'text'), ('html', 'html')):
                part = message.get_body((kind,))
                mail[name] = part.get_content().replace('\\r\\n', '\\n') if part is not None else None
            count += 1
            path = os.path.join(folder, '%06d' % count)
            with open(path, 'w') as file:
                json.dump(mail, file)
            os.rename(path, path + '.mail')
            return '250 2.0.0 queued as %d' % count

    def authenticate(server, session, envelope, mechanism, data):
        good = data.login == mode['user'].encode() and data.password == mode['password'].encode()
        # Like a careless server, it repeats what it was told.
        heard = base64.b64encode(b'\\0' + data.login + b'\\0' + data.password).decode()
        return AuthResult(success=good, handled=True) if good else AuthResult(
            success=False, handled=False, message='535 5.7.8 these are not the right words: ' + heard)

    def factory():
        return SMTP(Handler(), hostname='mail.example', authenticator=authenticate if mode['user'] else None,
                    auth_required=bool(mode['user']), auth_require_tls=mode['security'] == 'starttls',
                    require_starttls=mode['security'] == 'starttls',
                    tls_context=context if mode['security'] == 'starttls' else None)

    async def main():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(
            factory, '127.0.0.1', 0, ssl=context if mode['security'] == 'tls' else None)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(main())
    """
}
