/// A closed list of sentences that people read: the raw value is the code under which other languages keep theirs,
/// `english` the one place where the English sentence stands, with `{name}` where an argument is filled in.
///
/// The conformers are enumerations, so that none of their sentences can be missing from ``MessageCatalogue``.
package protocol MessageSet: RawRepresentable<String>, CaseIterable, Hashable, Sendable {
  /// The English sentence.
  var english: String { get }
}

extension MessageSet {
  /// The code of the sentence, as `token.lossy`.
  package var code: String { rawValue }
}

extension Problem {
  /// Creates a problem with one of the catalogue's sentences.
  package init(_ field: String, _ message: some MessageSet, _ arguments: [String: String] = [:]) {
    self.init(field, code: message.rawValue, message.english, arguments)
  }
}
