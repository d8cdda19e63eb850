import Arguments
import Foundation
import JSON
import Mail
import Reactor
import SQLite
import Store
import Text

/// `signalbox health`: whether the server of a data folder is ready, for containers and monitors.
enum HealthCommand {
  private static let url = Option<String?>(
    "url", "url", "The server's URL (default: where the server of the data folder last listened)."
  ) { text throws(BadValue) in try parseAddress(text) }
  /// In seconds.
  private static let patience = 5

  static let command = Command<Action>(
    "health", "Ask the running server whether it is ready.",
    discussion: """
      Asks /readyz of the server that uses the data folder, and prints its answer. Exit code 0: ready. 1: not ready, or \
      no answer.
      """,
    parameters: [url.parameter, CommonOptions.data.parameter, CommonOptions.json.parameter]
  ) { values, io in
    let address = try values[url] ?? known(DataDirectory(values, io))
    let answer = await ask(address)
    let words: String
    let isReady: Bool
    switch answer {
    case .success(let answer):
      isReady = answer.status == 200
      words = String(decoding: answer.body.prefix(500), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    case .failure(let error): (isReady, words) = (false, "\(error)")
    }
    if values[CommonOptions.json] {
      let json: JSONValue = ["ready": .bool(isReady), "url": .string(address), "answer": .string(words)]
      io.print(json.prettyJSON)
    } else {
      io.print(singleLine(words))
    }
    return isReady ? ExitCode.done : ExitCode.failed
  }

  /// Where the server of a folder last listened.
  ///
  /// - Throws: ``CommandFailure`` if no server has been started there, or the database cannot be read.
  private static func known(_ directory: DataDirectory) throws -> String {
    guard directory.exists else {
      throw CommandFailure("\(directory.path) has no database: no server has been started there.")
    }
    let database = try Database(path: directory.database, mode: .reader)
    defer { database.close() }
    guard let address = try ServerAddress.find(database) else {
      throw CommandFailure("No server has been started in \(directory.path) yet. Name its address with --url.")
    }
    return address
  }

  private static func ask(_ address: String) async -> Result<WebAnswer, MailError> {
    let pool = BlockingPool(name: "health", threads: 1)
    defer { pool.stop() }
    var transport = WebTransport(timeout: patience)
    // The address is this machine's, whose certificate names the public host.
    transport.isOwnServer = true
    do {
      return .success(try await pool.run { [transport] in try transport.get(WebRequest(url: address + "/readyz")) })
    } catch let error as MailError {
      return .failure(error)
    } catch {
      return .failure(MailError(.unreachable, "\(error)"))
    }
  }
}
