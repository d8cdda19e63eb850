import Foundation
import Logging
import TestSupport
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
    sink.flush(within: .seconds(60))
    try pipe.fileHandleForWriting.close()
    let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    let lines = text.split(separator: "\n")
    #expect(lines.count == 100)
    #expect(lines.allSatisfy { $0.hasSuffix("[test] line") })
  }

  @Test("logging never waits for a pipe that is not read; dropped lines are counted and reported in their place")
  func blocked() throws {
    let pipe = Pipe()
    let sink = StreamSink(descriptor: pipe.fileHandleForWriting.fileDescriptor, format: .text, capacity: 10_000)
    let logger = Logger(label: "test", sink: sink)
    // More than the pipe and the queue hold together. Returns at all: a write to the pipe would not.
    let logged = DispatchSemaphore(value: 0)
    Thread {
      for number in 0..<2000 { logger.info("line", ["n": number]) }
      logged.signal()
    }.start()
    try #require(logged.wait(timeout: .now() + 20) == .success, "the log waits for its reader")
    sink.flush(within: .zero)
    #expect(sink.dropped > 0)
    // The pipe is read from now on.
    let (dropped, reader) = (sink.dropped, pipe.fileHandleForReading)
    let read = DispatchQueue(label: "reader")
    nonisolated(unsafe) var text = ""
    let ended = DispatchSemaphore(value: 0)
    read.async {
      text = String(decoding: reader.readDataToEndOfFile(), as: UTF8.self)
      ended.signal()
    }
    sink.flush(within: .seconds(60))
    logger.info("last")
    sink.flush(within: .seconds(60))
    try pipe.fileHandleForWriting.close()
    ended.wait()
    var next = 0
    for line in text.split(separator: "\n").dropLast() {
      if let notice = line.firstMatch(of: /lines=(\d+) \[Logging\] lines were dropped/) {
        next += try #require(Int(notice.output.1))
      } else {
        #expect(line.contains("n=\(next) "), "each gap is told where it is: \(line)")
        next += 1
      }
    }
    #expect(next == 2000 && sink.dropped == dropped && text.hasSuffix("[test] last\n"))
  }

  @Test("lines that cannot be written are counted, and block no one")
  func full() throws {
    let descriptor = open("/dev/full", O_WRONLY)
    defer { close(descriptor) }
    let sink = StreamSink(descriptor: descriptor, format: .json)
    let logger = Logger(label: "test", sink: sink)
    for number in 0..<3 {
      logger.info("line", ["n": number])
      sink.flush(within: .seconds(60))
    }
    #expect(sink.dropped == 3)
  }
}
