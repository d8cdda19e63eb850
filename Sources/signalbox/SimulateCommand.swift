import Arguments
import Foundation
import Logging
import OpenSSL
import Push
import Reactor
import Simulator

/// `signalbox simulate`: the stand-in APNs alone, for other projects' tests.
enum SimulateCommand {
  private static let development = address(
    "apns-listen", "Where the development server listens; port 0: any free one.", "127.0.0.1:2197")
  private static let production = address(
    "apns-production-listen", "Where the production server listens.", "127.0.0.1:2198")
  private static let authority = Option<String?>(
    "ca-out", "file", "Writes the certificate to trust into this file, PEM (default: standard output)."
  ).configuration
  private static let faults = Option<Faults>(
    "faults", "list", "What goes wrong, as status=503,next=10 or delay=200ms,goaway=100.", default: Faults(),
    showing: ""
  ) { text throws(BadValue) in
    do {
      return try Faults(parsing: text)
    } catch {
      throw BadValue("names no faults: \(error)")
    }
  }.configuration
  private static let unknown = Flag("accept-unknown-tokens", "Accept pushes to tokens of no phone.").configuration
  private static let tokens = Option(
    repeated: "device", "token", "A phone with this token, in both environments."
  ) { text throws(BadValue) in
    do {
      return try DeviceToken(parsing: text, platform: .ios)
    } catch {
      throw BadValue("is no device token: \(error)")
    }
  }
  private static let topic = Option(
    "topic", "bundle-id", "The app on the phones of --device.", default: "com.example.app")

  static let command = Command<Action>(
    "simulate", "Runs only the simulated APNs, for tests of other projects.",
    parameters: [
      development.parameter, production.parameter, authority.parameter, faults.parameter, unknown.parameter,
      tokens.parameter, topic.parameter, LogOptions.level.parameter, LogOptions.format.parameter,
    ]
  ) { values, io in
    let log = LogOptions.logger(values)
    defer { log.flush(within: .seconds(1)) }
    var configuration = APNsSimulator.Configuration()
    configuration.development = values[development]
    configuration.production = values[production]
    configuration.phones = PhoneBook(acceptsUnknownTokens: values[unknown])
    configuration.faults = [.development: values[faults], .production: values[faults]]
    configuration.log = log
    let stopped = StopSignal()
    let simulator = try APNsSimulator(configuration: configuration)
    for (index, token) in values[tokens].enumerated() {
      try simulator.phones.add(
        NewPhone(name: "Phone \(index + 1)", environment: .development, topic: values[topic], token: token))
    }
    let addresses: (development: SocketAddress, production: SocketAddress)
    do {
      addresses = try await simulator.start()
    } catch let error as SystemError {
      throw CommandFailure("\(error). Choose another address with --apns-listen.")
    }
    if let file = values[authority] {
      try Data(simulator.authorityPEM.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
    } else {
      io.write(simulator.authorityPEM)
    }
    io.note("APNs development at \(addresses.development), production at \(addresses.production)")
    if io.outputFailure() == nil { await stopped.wait() }
    await simulator.stop()
    for environment in Environment.allCases {
      let counters = simulator.counters(environment)
      io.note("\(environment.rawValue): \(counters)")
    }
    return ExitCode.done
  }

  private static func address(_ name: String, _ help: String, _ value: String) -> Option<SocketAddress?> {
    Option(name, "address", help, default: SocketAddress(value), showing: value) { text throws(BadValue) in
      guard let address = SocketAddress(text) else { throw BadValue("is not an address with a port, as \(value)") }
      return address
    }.configuration
  }
}
