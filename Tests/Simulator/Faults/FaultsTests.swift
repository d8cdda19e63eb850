import Model
import Synchronization
import Testing

@testable import Simulator

@Suite("Faults")
struct FaultsTests {
  private static let token = String(repeating: "ab", count: 32)

  struct Text: Sendable, CustomTestStringConvertible {
    let text: String
    let expected: Faults
    /// As it is written back, if otherwise.
    var written: String?
    var testDescription: String { text }

    init(_ text: String, written: String? = nil, _ change: (inout Faults) -> Void) {
      var faults = Faults()
      change(&faults)
      (self.text, self.written, expected) = (text, written, faults)
    }
  }

  private static let texts: [Text] = [
    Text("") { _ in },
    Text("status=503,reason=ServiceUnavailable,next=10") {
      $0.answers = [.init(status: 503, reason: "ServiceUnavailable", scope: .next(10))]
    },
    Text("reason=ServiceUnavailable,status=503", written: "status=503,reason=ServiceUnavailable") {
      $0.answers = [.init(status: 503, reason: "ServiceUnavailable")]
    },
    Text("status=429, share=10%", written: "status=429,reason=TooManyRequests,share=0.1") {
      $0.answers = [.init(status: 429, reason: "TooManyRequests", scope: .share(0.1))]
    },
    Text("reason=Unregistered,token=\(token.uppercased())", written: "status=410,reason=Unregistered,token=\(token)") {
      $0.answers = [
        .init(status: 410, reason: "Unregistered", scope: .token(DeviceToken(bytes: .init(repeating: 0xab, count: 32))))
      ]
    },
    Text(
      "status=500,status=403,share=0.5,reason=Shutdown",
      written: "status=500,reason=InternalServerError,status=403,reason=InvalidProviderToken,share=0.5,"
        + "status=503,reason=Shutdown"
    ) {
      $0.answers = [
        .init(status: 500, reason: "InternalServerError"),
        .init(status: 403, reason: "InvalidProviderToken", scope: .share(0.5)),
        .init(status: 503, reason: "Shutdown"),
      ]
    },
    Text("status=418,reason=Teapot") { $0.answers = [.init(status: 418, reason: "Teapot")] },
    Text("delay=200ms") { $0.delay = .milliseconds(200) },
    Text("delay=3s", written: "delay=3000ms") { $0.delay = .seconds(3) },
    Text("delay=2min", written: "delay=120000ms") { $0.delay = .seconds(120) },
    Text("goaway=100") { $0.goAwayAfter = 100 },
    Text("refuse=0.1") { $0.refusedShare = 0.1 },
    Text("cut=50") { $0.cutAfter = 50 },
    Text("silent=0.01") { $0.silentShare = 0.01 },
    Text("streams=1") { $0.maximumStreams = 1 },
    Text("streams=0") { $0.maximumStreams = 0 },
    Text("delay=1ms,goaway=2,refuse=0.5,cut=3,silent=1.0,streams=4,seed=5") {
      ($0.delay, $0.goAwayAfter, $0.refusedShare) = (.milliseconds(1), 2, 0.5)
      ($0.cutAfter, $0.silentShare, $0.maximumStreams, $0.seed) = (3, 1, 4, 5)
    },
  ]

  @Test("what can be written", arguments: texts)
  func reading(_ text: Text) throws {
    let faults = try Faults(parsing: text.text)
    #expect(faults == text.expected)
    #expect(faults.description == text.written ?? text.text)
    #expect(try Faults(parsing: faults.description) == faults)
  }

  @Test(
    "what cannot, and what is said about it",
    arguments: [
      ("status", "“status” is not of the form key=value."),
      ("=5", "“=5” is not of the form key=value."),
      (
        "speed=5",
        "Unknown fault “speed”. Known faults: status, reason, next, share, token, retry, delay, goaway, refuse, "
          + "cut, silent, streams, seed."
      ),
      ("status=200", "status=200: expected an HTTP status from 400 to 599."),
      ("status=x", "status=x: expected an HTTP status from 400 to 599."),
      ("status=400", "Add a reason for status 400, e.g. reason=ServiceUnavailable."),
      ("reason=Nonsense", "The service has no reason “Nonsense”. Add a status, e.g. status=503."),
      ("reason=a b", "reason=a b: expected a reason, e.g. TooManyRequests."),
      ("next=3", "“next” belongs to a response. Put status=… or reason=… before it."),
      ("status=503,next=0", "next=0: expected a number of requests, 1 or more."),
      (
        "status=503,next=1,share=1",
        "A response can have only one of next, share, and token. Start another response with status=…."
      ),
      ("status=503,token=xyz", nil),
      ("refuse=1.5", "refuse=1.5: expected a share from 0 to 1, e.g. 0.1 or 10%."),
      ("refuse=-1%", "refuse=-1%: expected a share from 0 to 1, e.g. 0.1 or 10%."),
      ("silent=nan", "silent=nan: expected a share from 0 to 1, e.g. 0.1 or 10%."),
      ("delay=200", "delay=200: expected a time of up to one hour with a unit, e.g. 200ms, 3s, or 2min."),
      ("delay=61min", "delay=61min: expected a time of up to one hour with a unit, e.g. 200ms, 3s, or 2min."),
      ("delay=-1s", "delay=-1s: expected a time of up to one hour with a unit, e.g. 200ms, 3s, or 2min."),
      ("goaway=0", "goaway=0: expected a number of requests, 1 or more."),
      ("streams=-1", "streams=-1: expected a number from 0 to 1000000."),
      ("seed=-1", "seed=-1: expected a whole number, 0 or more."),
      ("cut=1,cut=2", "“cut” appears twice."),
    ] as [(String, String?)])
  func refusing(_ text: String, _ message: String?) throws {
    let error = #expect(throws: FaultsError.self) { try Faults(parsing: text) }
    if let message { #expect(error?.description == message) }
    #expect(error?.description.isEmpty == false)
  }

  private static func decisions(_ text: String, count: Int, token: String = "") throws -> [FaultBox.Verdict.Action] {
    let box = FaultBox(try Faults(parsing: text))
    return (1...count).map { box.decide(number: $0, token: token).action }
  }

  @Test("next counts down, and the box shows the rest")
  func next() throws {
    let box = FaultBox(try Faults(parsing: "status=503,next=2,reason=Shutdown,next=1"))
    #expect(box.decide(number: 1, token: "").action == .answer(status: 503, reason: "ServiceUnavailable"))
    #expect(box.faults.description == "status=503,reason=ServiceUnavailable,next=1,status=503,reason=Shutdown,next=1")
    #expect(box.decide(number: 2, token: "").action == .answer(status: 503, reason: "ServiceUnavailable"))
    #expect(box.decide(number: 3, token: "").action == .answer(status: 503, reason: "Shutdown"))
    #expect(box.decide(number: 4, token: "").action == .proceed)
    #expect(box.faults == Faults())
  }

  @Test("a token's faults are that token's, in either case")
  func token() throws {
    let text = "reason=Unregistered,token=\(Self.token)"
    #expect(try Self.decisions(text, count: 1, token: Self.token.uppercased()) != [.proceed])
    #expect(try Self.decisions(text, count: 1, token: String(Self.token.dropLast(2))) == [.proceed])
  }

  @Test("shares are about kept, and the same seed gives the same course")
  func shares() throws {
    let first = try Self.decisions("refuse=0.1,silent=0.5,seed=1", count: 10_000)
    #expect(try Self.decisions("refuse=0.1,silent=0.5,seed=1", count: 10_000) == first)
    #expect(try Self.decisions("refuse=0.1,silent=0.5,seed=2", count: 10_000) != first)
    #expect((900...1100).contains(first.count { $0 == .refuse }))
    #expect((4200...4800).contains(first.count { $0 == .keepSilent }))
    #expect(try Self.decisions("silent=1", count: 100).allSatisfy { $0 == .keepSilent })
  }

  @Test("cut and GOAWAY count the requests of a connection; the observer receives changes")
  func connections() throws {
    let box = FaultBox(try Faults(parsing: "cut=3,goaway=2,delay=5ms"))
    let verdicts = (1...4).map { box.decide(number: $0, token: "") }
    #expect(verdicts.map(\.action) == [.proceed, .proceed, .cut, .cut])
    #expect(verdicts.map(\.goesAway) == [false, true, false, false])
    #expect(verdicts.allSatisfy { $0.delay == .milliseconds(5) })
    let heard = Mutex<[Faults]>([])
    box.observe { faults in heard.withLock { $0.append(faults) } }
    box.set(try Faults(parsing: "streams=7"))
    #expect(heard.withLock { $0.map(\.maximumStreams) } == [7])
    #expect(box.decide(number: 3, token: "") == FaultBox.Verdict())
  }
}
