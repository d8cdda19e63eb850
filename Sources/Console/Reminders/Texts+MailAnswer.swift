import Mail

/// Why a mail or a message to a webhook was not accepted: what Signalbox words is translated, what the receiver answered
/// stays as it is.
extension Texts {
  /// An answer that was stored with a message.
  func answer(_ text: String) -> String {
    for code in MailError.Code.allCases where text.hasPrefix(code.english) {
      let rest = text.dropFirst(code.english.count)
      if rest.isEmpty || rest.hasPrefix(": ") { return failure(code, String(rest.dropFirst(2))) }
    }
    return RecordedSentence.problem(text, among: RecordedSentence.mail).map { self.text($0) } ?? text
  }

  /// - Parameter words: of the receiver; of unusable settings, Signalbox's own.
  func failure(_ code: MailError.Code, _ words: String) -> String {
    let what = self("settings.failures.\(code.rawValue)")
    guard !words.isEmpty else { return what }
    return code == .settings ? labelled(what.firstSentence.first, answer(words)) : [what, words].sentences
  }
}
