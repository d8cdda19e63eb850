import Testing
import Text

/// A language whose sentences have the values in another order.
private struct Reversed: Translation {
  func sentence(_ key: String) -> String? {
    [
      "{1} of {2}": "{2}, {1}", "{1} apples": "apples: {1}", "red": "RED", "{1} {2}": "{2}{1}", "go {1}.": "去{1}。",
      "done": "好。",
    ][key]
  }
  func text(of value: any Sendable) -> String? { value is Failure ? "a failure" : nil }
}

private struct Failure: Error, CustomStringConvertible { let description = "failed" }

@Suite("Messages in two languages")
struct MessageTests {
  @Test("the key is constant, and a translation puts the values where it wants them")
  func values() {
    let (one, two) = (1, "two")
    let message: Message = "\(one) of \(two)"
    #expect(message.key == "{1} of {2}")
    #expect(message.description == "1 of two")
    #expect(message.text(in: Reversed()) == "two, 1")
  }

  @Test("what is not translated stays English; what looks like a place in a value stays as it is")
  func fallback() {
    let place = "{2}"
    let message: Message = "keep \(place) and {x} and \(7)"
    #expect(message.text(in: Reversed()) == "keep {2} and {x} and 7")
    #expect(("{1}" as Message).text(in: Reversed()) == "{1}")
  }

  @Test("messages and errors in messages are said in the same language")
  func nested() {
    let word: Message = "red"
    let message: Message = "\(word) \(Failure())"
    #expect(message.description == "red failed")
    #expect(message.text(in: Reversed()) == "a failureRED")
  }

  @Test("a sentence within a sentence ends once, and a name keeps its end")
  func ends() {
    let sentence: Message = "done"
    #expect(("go \(sentence)." as Message).text(in: Reversed()) == "去好。")
    let ended: Message = "It is over."
    #expect(("go: \(ended)." as Message).description == "go: It is over.")
    #expect(("go: \(ended); \("Inc.")." as Message).description == "go: It is over; Inc..")
    #expect(("go \("名。")." as Message).text(in: Reversed()) == "去名。。")
  }

  @Test("English has a singular; another language has what its table says for the plural's key", arguments: [1, 3])
  func plural(count: Int) {
    let message = Message(count: count, one: "an apple", other: "\(count) apples")
    #expect(message.description == (count == 1 ? "an apple" : "3 apples"))
    #expect(message.text(in: Reversed()) == "apples: \(count)")
  }
}
