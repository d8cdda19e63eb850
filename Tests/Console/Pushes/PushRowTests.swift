import Calendar
import Foundation
import JSON
import Mustache
import Model
import Testing

@testable import Console

/// What rows read without a look at the whole draft, and what they write without a text in between.
@Suite("Rows of pushes")
struct PushRowTests {
  @Test(
    "the audience of a draft is the one that reading all of it gives",
    arguments: [
      #"{"audience":"all","platforms":["ios"]}"#,
      #"{"apns":{"payload":{"audience":"all","x":["}",{"y":"\""}]}},"audience":{"tag":["vip","a,b"]},"platforms":["ios"]}"#,
      #"{ "audience" : { "alias" : ["\u0061nna", "{\"}"] } , "platforms" : [ "android" ] }"#,
      #"{"notification":{"body":"\\","title":"audience\":\"all"},"audience":{"device_token":["nonsense"]}}"#,
      #"{"app":"com.example.shop"}"#, #"{"audience":null}"#, #"{"audience":{"tag":[]}}"#, #"{"audience":"al"#, "", "[]",
    ])
  func audience(draft: String) throws {
    let whole = try? JSONValue(parsing: Data(draft.utf8))
    #expect(RawJSON(object: draft).flatMap(ListedPush.audience) == whole.flatMap(Audience.init(draft:)))
  }

  private static func written(_ language: String = "en", _ write: (inout Output) -> Void) -> String {
    var output = Output(capacity: 1)
    output.language = language
    write(&output)
    return String(decoding: output.array, as: UTF8.self)
  }

  @Test(
    "instants are written as the API writes them",
    arguments: [0, 1_795_176_000, 1_795_176_000.25, 951_782_400.007, -1, -86_400.5, 253_402_300_799])
  func instants(seconds: Double) {
    let date = Date(timeIntervalSince1970: seconds)
    #expect(Self.written { $0.write(timestamp: date) } == Timestamp.text(date))
    #expect(Self.written { $0.write(machineDay: date) } == date.dayText)
  }

  @Test(
    "instants for people are in the language's form, to the minute, or exact on hover",
    arguments: [
      ("en", "22 Nov 2026", "22 Nov 2026, 07:52 UTC", "22 Nov 2026, 07:52:09 UTC"),
      ("zh-Hans", "2026年11月22日", "2026年11月22日 07:52 UTC", "2026年11月22日 07:52:09 UTC"),
    ])
  func forPeople(language: String, day: String, minute: String, exact: String) {
    let date = Date(timeIntervalSince1970: 1_795_333_929.6)
    #expect(Self.written(language) { $0.write(day: date) } == day)
    #expect(Self.written(language) { $0.write(minute: date) } + " UTC" == minute)
    #expect(Self.written(language) { $0.write(utc: date) } == minute)
    #expect(Self.written(language) { $0.write(exact: date) } == exact)
  }

  @Test("hundredths", arguments: [(0, "0"), (5, "0.05"), (100, "1"), (1234, "12.34"), (10_000, "100")])
  func hundredths(number: Int, expected: String) {
    #expect(Self.written { $0.write(hundredths: number) } == expected)
  }
}
