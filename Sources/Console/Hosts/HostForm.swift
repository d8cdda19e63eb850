import Certificates
import Model
import Store

/// The form “Watch a host”, also used to edit a watched host.
struct HostForm {
  static let noteLimit = 500

  let address: HostAddress
  let note: String

  /// Reads a form.
  ///
  /// - Throws: every problem of the form.
  init(_ form: Form) throws(Problems) {
    try self.init(
      host: form["host"], startProtocol: form["protocol"], serverName: form["server_name"], note: form["note"])
  }

  /// Reads the values of a form's fields.
  ///
  /// - Throws: every problem of the form.
  init(
    host: String, startProtocol: String = "", serverName: String = "", note: String = "", port: UInt16? = nil
  ) throws(Problems) {
    var problems: [Problem] = []
    if note.count > Self.noteLimit { problems.append(Problem("note", HostMessage.note)) }
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
