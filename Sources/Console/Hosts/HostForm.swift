import Certificates
import Model
import Store

/// The form “Watch a host”, also used to edit a watched host.
struct HostForm {
  let address: HostAddress
  let note: String

  /// Reads a form.
  ///
  /// - Parameter stored: the note as it is stored, which may be kept whatever its length is.
  /// - Throws: every problem of the form.
  init(_ form: Form, stored: String? = nil) throws(Problems) {
    try self.init(
      host: form["host"], startProtocol: form["protocol"], serverName: form["server_name"], note: form["note"],
      stored: stored)
  }

  /// Reads the values of a form's fields.
  ///
  /// - Throws: every problem of the form.
  init(
    host: String, startProtocol: String = "", serverName: String = "", note: String = "", stored: String? = nil,
    port: UInt16? = nil
  ) throws(Problems) {
    var problems: [Problem] = []
    if note != stored, let problem = HostNote.problem(note) { problems.append(problem) }
    let start = HostAddress.StartProtocol(rawValue: startProtocol)
    do {
      address = try HostAddress(parsing: host, startProtocol: start, serverName: serverName, port: port)
    } catch { throw Problems(error.all + problems) }
    guard problems.isEmpty else { throw Problems(problems) }
    self.note = note
  }

  static func protocols(_ texts: Texts, chosen: String) -> [ChoiceView] {
    ChoiceView.list(
      [("", texts("hosts.by_port"))]
        + HostAddress.StartProtocol.allCases.map { ($0.rawValue, texts("hosts.protocols.\($0.rawValue)")) },
      chosen: chosen)
  }
}
