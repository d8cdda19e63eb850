import Foundation
import Mail
import Testing

@testable import Console

@Suite("What a receiver of mail or of a webhook answered, in another language")
struct MailAnswerTests {
  private static let locales = Result {
    try Locales(folder: ConsoleScene.root.appendingPathComponent("Templates/locales").path)
  }

  @Test("what Signalbox words is translated, what the receiver answered stays", arguments: MailError.Code.allCases)
  func codes(_ code: MailError.Code) throws {
    let chinese = try Self.locales.get()["zh-Hans"]
    let what = chinese("settings.failures.\(code.rawValue)")
    #expect(what.contains(/\p{Script=Han}/))
    #expect(chinese.answer("\(MailError(code, ""))") == what)
    let words = "550 5.7.1 rejected: no such user"
    let answer = chinese.answer("\(MailError(code, words))")
    #expect(answer == (code == .settings ? "设置无效：\(words)" : what + words), "\(answer)")
  }

  @Test(
    "sentences about unusable settings are translated",
    arguments: [
      ("the settings are not valid: no mail server is set up", "设置无效：未设置邮件服务器"),
      ("the settings are not valid: “x” with port 0 is not a valid server", "设置无效：“x”和端口 0 不是有效的服务器"),
      ("its content is out of date", "内容已过时"), ("250 2.0.0 queued", "250 2.0.0 queued"),
      // A receiver may say anything.
      ("refused: mx1 rejected it.", "消息被拒绝。mx1 rejected it."), ("refused by policy", "refused by policy"),
    ])
  func settings(stored: String, chinese: String) throws {
    #expect(try Self.locales.get()["zh-Hans"].answer(stored) == chinese)
  }

  @Test("English pages say it with the same words")
  func english() throws {
    let texts = try Self.locales.get()["en"]
    #expect(texts.answer("\(MailError(.busy, "429"))") == "The server cannot accept it right now. 429")
    #expect(
      texts.answer("the settings are not valid: no mail server is set up")
        == "The settings are not valid: no mail server is set up")
  }
}
