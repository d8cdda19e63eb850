import Foundation
import Logging
import Testing

@Suite("Logging")
struct LoggerTests {
  private func entry(_ message: String, _ metadata: [(key: String, value: String)] = []) -> LogEntry {
    LogEntry(
      time: Date(timeIntervalSince1970: 1_796_115_600.123), level: .info, label: "Delivery", message: message,
      metadata: metadata)
  }

  @Test("a text line has time, level, metadata, label and message")
  func text() {
    let line = LogFormat.text.line(entry("push finished", [("push.id", "p1"), ("title", "two words")]))
    #expect(
      line == "2026-12-01T09:00:00.123Z info signalbox: push.id=p1 title=\"two words\" [Delivery] push finished\n")
  }

  @Test("a JSON line is an object with the same")
  func json() throws {
    let line = LogFormat.json.line(entry("m", [("a", "\"\\\n\u{1}汉")]))
    let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: String])
    #expect(
      object == [
        "time": "2026-12-01T09:00:00.123Z", "level": "info", "label": "Delivery", "message": "m",
        "a": "\"\\\n\u{1}汉",
      ])
  }

  @Test("no value makes a second line", arguments: LogFormat.allCases)
  func injection(format: LogFormat) {
    let evil = "x\r\n2026 error signalbox: forged\u{2028}\u{85}"
    let line = format.line(entry(evil, [(evil, evil)]))
    #expect(line.split(whereSeparator: \.isNewline).count == 1)
    #expect(line.hasSuffix("\n"))
  }

  @Test("entries below the level are dropped, and their metadata is not computed")
  func levels() {
    let sink = MemorySink()
    let logger = Logger(label: "test", level: .warning, sink: sink)
    func dear() -> String {
      Issue.record("computed")
      return ""
    }
    logger.info("no", ["a": dear()])
    logger.warning("yes", ["n": 1])
    #expect(sink.entries.map(\.message) == ["yes"])
    #expect(sink.entries.first?.metadata.first?.value == "1")
  }

  @Test("lines from many threads do not mix")
  func threads() throws {
    let pipe = Pipe()
    let sink = StreamSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, format: .text)
    let logger = Logger(label: "test", sink: sink)
    DispatchQueue.concurrentPerform(iterations: 100) { logger.info("line", ["n": $0]) }
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect(lines.count == 100)
    #expect(lines.allSatisfy { $0.hasSuffix("[test] line") })
  }
}
