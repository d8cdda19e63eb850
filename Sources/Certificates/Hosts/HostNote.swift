package import Model

/// What somebody writes about a watched host.
package enum HostNote {
  /// Characters.
  package static let limit = 500

  package static func problem(_ text: String) -> Problem? {
    text.count > limit ? Problem("note", HostMessage.note) : nil
  }
}
