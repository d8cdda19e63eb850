import Testing
import Text

@Suite("Did you mean …?")
struct SuggestionTests {
  @Test(
    "did you mean",
    arguments: [
      ("timeToLive", "time_to_live"), ("time-to-live", "time_to_live"), ("tme_to_live", "time_to_live"),
      ("prioirty", "priority"), ("Priority", "priority"), ("rte", "rate"), ("zzz", nil), ("", nil),
      (String(repeating: "x", count: 100_000), nil),
    ] as [(String, String?)])
  func suggestion(word: String, meant: String?) {
    #expect(Suggestion.closest(to: word, among: ["time_to_live", "priority", "rate"]) == meant)
  }

  @Test(
    "two neighbours exchanged are one slip, anywhere in a word; not so if something stands between them",
    arguments: [
      ("iso", "ios", 1), ("ois", "ios", 1), ("ab", "ba", 1), ("abdc", "abcd", 1), ("badc", "abcd", 2), ("ca", "abc", 3),
      ("abc", "cba", 2), ("a", "a", 0), ("", "abc", 3), ("abc", "", 3), ("axb", "ab", 1), ("ab", "axb", 1),
    ])
  func exchanged(word: String, other: String, distance: Int) {
    #expect(Suggestion.distance(Array(word.utf8), Array(other.utf8)) == distance)
  }

  @Test("of a word of three letters one slip is forgiven, and an exchange is one")
  func shortWords() {
    #expect(Suggestion.closest(to: "iso", among: ["ios"]) == "ios")
    #expect(Suggestion.closest(to: "soi", among: ["ios"]) == nil)
  }

  @Test(
    "words of other scripts are told apart, and slips in them are forgiven",
    arguments: [
      ("会员", ["新用户", "老用户"], nil), ("会员a", ["新用户A"], nil), ("новости", ["погода"], nil), ("---", ["!!!"], nil),
      ("新用戶群", ["会员", "新用户群"], "新用户群"), ("新-用户", ["老用户", "新用户"], "新用户"), ("НОВОСТИ", ["новости"], "новости"),
      ("“time–to–live”", ["time_to_live"], "time_to_live"),
    ] as [(String, [String], String?)])
  func otherScripts(word: String, candidates: [String], meant: String?) {
    #expect(Suggestion.closest(to: word, among: candidates) == meant)
  }

  @Test(
    "the nearest of several is meant, the first of equals; kept candidates say the same",
    arguments: [
      ("rats", ["rate", "rates", "cats"], "rate"), ("rats", ["crates", "rates"], "rates"),
      ("rats", ["rates", "crates"], "rates"), ("rats", ["priority", "star", "a"], nil), ("r", ["s", ""], nil),
      ("\u{212A}ey", ["keys", "key"], "key"), ("PRIORITÉ", ["priorities", "priority"], "priority"),
      ("registrationid", ["region", "registration_id"], "registration_id"), ("x", [], nil),
    ] as [(String, [String], String?)])
  func several(word: String, candidates: [String], meant: String?) {
    #expect(Suggestion.closest(to: word, among: candidates) == meant)
    #expect(Suggestion.closest(to: word, among: Suggestion.Candidates(candidates)) == meant)
  }
}
