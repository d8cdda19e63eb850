import Foundation
import JSON
import Model
import OpenSSL
import Store
import Testing
import Text

@testable import Arguments
@testable import signalbox

/// What commands say to somebody whose locale is Chinese, and to everybody else.
@Suite("The command line in Chinese: what commands say")
struct ChineseCommandTests {
  private static let chinese = ["LANG": "zh_CN.UTF-8"]

  /// Three English words in a row, apart from commands to type and names.
  private static func sentences(_ text: String) -> [String] {
    var text = text
    for name in [
      "'news' in topics && 'en' in topics", "signalbox: error:", "Have I Been Pwned", "Authorization: Bearer",
    ] {
      text = text.replacing(name, with: "|")
    }
    text = text.replacing(/signalbox(?: [a-z-]+)+/, with: "|")
    return text.matches(of: /[A-Za-z][a-z’']+(?: [A-Za-z][a-z’']+){2,}/).map { String($0.0) }
  }

  private static func expectChinese(_ result: CommandResult, _ words: [String]) {
    let text = result.output + result.errors
    #expect(text.contains(/\p{Script=Han}/), "\(words): \(text)")
    #expect(sentences(text) == [], "\(words): \(text)")
  }

  @Test("every command's help is Chinese, no wider than the terminal that English fits")
  func help() async throws {
    try await CommandRunner.with { box in
      for node in Signalbox.program.nodes {
        let words = ["help"] + node.path.dropFirst().map(\.name)
        let result = await box.run(words, environment: Self.chinese)
        #expect(result.code == 0 && result.output.hasPrefix("概述："))
        // The usage is names of options alone.
        let parts = result.output.components(separatedBy: "\n\n").filter { !$0.hasPrefix("用法：") }
        Self.expectChinese(CommandResult(code: 0, output: parts.joined(separator: "\n\n"), errors: ""), words)
        let long = result.lines.filter { $0.columns > 104 && $0.contains(/\p{Script=Han}/) }
        #expect(long == [], "\(words)")
      }
      let add = await box.run("help", "apps", "add", environment: Self.chinese)
      #expect(add.output.contains("none 或 jpush。（默认：none）"), "a value stays as it is typed")
    }
  }

  @Test("what the system says of folders and files is in the command's language, not in Foundation's words")
  func systemErrors() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let backup = box.folder + "/backup.sqlite"
      #expect(await box.run("backup", backup).code == 0)
      let inFile = backup + "/data"
      let draft = box.data + "/signalbox.sqlite.restoring"
      try FileManager.default.createDirectory(atPath: draft, withIntermediateDirectories: true)
      for (words, data, english, chinese) in [
        (["restore", backup], inFile, "cannot be created: Not a directory. Choose another", "不是目录。请用 --data 选择"),
        (["backup", "--to", inFile], box.data, "cannot be created: Not a directory. Choose", "不是目录。请用 --to 选择"),
        (["restore", backup], box.data, "cannot be copied to \(draft): File exists", "复制到 \(draft)：文件已存在"),
      ] {
        let said = await box.run(words, environment: ["SIGNALBOX_DATA": data])
        #expect(said.code == 1 && said.errors.contains(english), "\(said.errors)")
        let result = await box.run(
          words, environment: ["SIGNALBOX_DATA": data].merging(Self.chinese) { $1 })
        #expect(result.code == 1 && result.errors.contains(chinese), "\(result.errors)")
        Self.expectChinese(result, words)
      }
    }
  }

  @Test("wrong usage is explained in Chinese")
  func usage() async throws {
    try await CommandRunner.with { box in
      let cases: [([String], String)] = [
        (["devices", "imprt"], "未知命令“imprt”。是否想输入“import”？"),
        (["apps", "lst", "--help"], "未知命令“lst”。是否想输入“list”？"),
        (["send", "--titel", "x"], "未知选项“--titel”。是否想输入“--title”？"),
        (["apps", "show"], "缺少参数 <bundle-id>。"),
        (["check-certificates", "--within", "soon"], "--within <days> 的值“soon”无效：应为 0 到 36500 之间的天数，例如 30d。"),
        (["send", "--app", "a", "--environment", "test"], "的值“test”无效：应为 development 或 production。"),
        (["simulate", "--faults", "speed=1"], "无效：不是有效的故障列表：未知故障“speed”。"),
        (["tokens", "list", "more"], "多余的参数“more”。"),
        (["backup"], "请给出一个文件，或用 --to 给出目录。"),
        (
          ["send", "--app", "a", "--environment", "development", "--broadcast", "--title", "x", "--every", "week"],
          "--on：请至少选择一天：mon、tue、wed、thu、fri、sat、sun。"
        ),
      ]
      for (words, text) in cases {
        let result = await box.run(words, environment: Self.chinese)
        #expect(result.code == 64, "\(words)")
        #expect(result.errors.hasPrefix("signalbox: error: ") && result.errors.contains(text), "\(result.errors)")
        #expect(result.errors.contains("请参阅“signalbox"), "\(result.errors)")
        Self.expectChinese(result, words)
      }
    }
  }

  /// Fills a data folder, and runs commands that show something.
  private static let commands: [[String]] = [
    ["apps", "list"], ["apps", "show", "com.example.shop"], ["apps", "show", "com.example.none"],
    ["users", "list"], ["users", "disable", "ben@example.com"], ["users", "disable", "nobody@example.com"],
    ["users", "require-second-step", "admins"], ["tokens", "list"], ["tokens", "remove", "99"],
    ["devices", "list"], ["devices", "remove", "9999"], ["devices", "tag", "1", "--add", "vip"],
    ["devices", "alias", "1", "--alias", "anna"], ["schedules", "list"], ["schedules", "pause", "none"],
    ["incidents", "list"], ["incidents", "show", "9"], ["retention", "show"], ["retention", "set"],
    ["certificates", "list"], ["certificates", "requests"], ["certificates", "hosts"],
    ["certificates", "remove", "77"], ["certificates", "undo", "77"],
    ["webhooks", "list"], ["webhooks", "test", "5"], ["smoke", "--list"], ["smoke", "Nightly"],
    ["pushes", "waiting"], ["pushes", "approve", "none"], ["topics", "list", "com.example.shop", "development"],
    ["topics", "rules", "com.example.shop"], ["topics", "changes", "com.example.shop", "development"],
    ["channels", "list", "com.example.shop", "development", "--known"], ["oidc", "show"],
    ["apps", "client-keys", "com.example.shop", "--add"], ["apps", "approval", "com.example.shop", "on"],
    ["apps", "jpush-key", "com.example.shop"], ["inspect", "/nowhere.p12"], ["inspect", "/tmp"],
    ["send", "--app", "com.example.shop", "--environment", "development", "--tag", "nobody", "--title", "x"],
    ["send", "--app", "com.example.shop", "--environment", "development", "--broadcast", "--title", "x"],
    ["send", "--app", "com.example.none", "--environment", "development", "--broadcast", "--title", "x"],
    [
      "send", "--app", "com.example.shop", "--environment", "development", "--broadcast", "--title", "x", "--every",
      "day", "--time", "09:00",
    ],
    ["take-over"], ["take-over", "--previous-is-stopped"], ["doctor"], ["restore", "/nowhere.sqlite"],
    ["rotate-key"], ["apps", "remove", "com.example.shop"],
  ]

  private static func fill(_ box: CommandRunner) async throws {
    let lines = (1...3).map { number in
      let token = String(repeating: "0\(number)", count: 32)
      return
        "{\"app\":\"com.example.shop\",\"environment\":\"development\",\"platform\":\"ios\",\"token\":\"\(token)\"}"
    }
    #expect(await box.run("apps", "add", "com.example.shop", "--name", "Shop").code == 0)
    #expect(await box.run("users", "add", "ben@example.com", "--role", "viewer").code == 0)
    #expect(await box.run("tokens", "add", "CI").code == 0)
    let file = try box.file("devices.ndjson", lines.joined(separator: "\n"))
    #expect(await box.run("devices", "import", file).code == 0)
  }

  @Test("lists, results, notes and errors are Chinese")
  func results() async throws {
    try await CommandRunner.with { box in
      try await Self.fill(box)
      for words in Self.commands {
        let result = await box.run(words, environment: Self.chinese)
        Self.expectChinese(result, words)
      }
      let list = await box.run("devices", "list", environment: Self.chinese)
      #expect(list.lines.first?.contains(/^ID +应用 +环境 +平台 +状态 +令牌/) == true)
      #expect(list.output.contains("开发环境") && list.output.contains("有效"))
      let imported = await box.run(
        "devices", "import", "-", "--format", "csv", input: "app\n", environment: Self.chinese)
      Self.expectChinese(imported, ["devices", "import"])
      let backup = await box.run("backup", box.folder + "/copy.sqlite", environment: Self.chinese)
      #expect(backup.output.hasPrefix("已备份到 \(box.folder)/copy.sqlite。请同时保存"))
      let restored = await box.run("restore", box.folder + "/copy.sqlite", environment: Self.chinese)
      #expect(restored.output.hasPrefix("已将 \(box.folder)/copy.sqlite 恢复到 "))
      Self.expectChinese(restored, ["restore"])
    }
  }

  @Test("errors of files and of the rooms below are Chinese, without names of fields, and end with one full stop")
  func errors() async throws {
    try await CommandRunner.with { box in
      try await Self.fill(box)
      let key = try box.file("AuthKey_ABCDE12345.p8", try PrivateKey.generateP256().pkcs8PEM)
      let added = await box.run(
        "certificates", "add", key, "--team-id", "TEAM123456", "--app", "com.example.shop", "--use-for", "production",
        "--endpoint", "simulator")
      #expect(added.code == 0, "\(added.errors)")
      let junk = try box.file("junk.txt", "junk\n")
      let lines = try box.file("bad.ndjson", "{\"app\":\"x\",\"platform\":\"ios\",\"token\":\"zz\"}\n")
      let cases: [([String], String)] = [
        (["certificates", "remove", "1"], "仍在使用中：com.example.shop (apns, production)。\n"),
        (["inspect", junk], "junk.txt：这是文本文件"), (["inspect", "/nowhere.p12"], "/nowhere.p12：没有此文件或目录。\n"),
        (["devices", "import", "/nowhere.csv"], "/nowhere.csv：没有此文件或目录\n"),
        (["devices", "import", lines], "第 1 行："), (["devices", "import", junk, "--format", "csv"], "第 1 行："),
        (["backup", junk], "junk.txt 已存在，不会覆盖。"), (["backup", "/nowhere/x"], "无法写入 /nowhere/x：没有此文件或目录。"),
        (["rotate-key", "--keep-old", "/nowhere/x"], "密钥未更改"),
        (["retention", "set", "--deliveries", "0"], "--pushes：每台设备的结果永久保留"),
        (["users", "role", "ben@example.com", "--role", "operator"], "已更改 ben@example.com 的角色：操作员。\n"),
        (["certificates", "show", "1"], "使用者：      com.example.shop（生产环境）\n"),
        (["apps", "show", "com.example.shop"], "开发环境 ios：3 有效、0 已停用、0 已失效\n"),
      ]
      for (words, text) in cases {
        let result = await box.run(words, environment: Self.chinese)
        Self.expectChinese(result, words)
        let all = result.output + result.errors
        #expect(all.contains(text), "\(words): \(all)")
        #expect(!all.contains("。。") && !all.contains("。；") && !all.contains("file："), "\(words): \(all)")
      }
    }
  }

  @Test("columns stand under each other, though Chinese characters are wide")
  func columns() async throws {
    try await CommandRunner.with { box in
      await box.run("apps", "add", "com.example.shop", "--name", "商店")
      await box.run("apps", "add", "com.example.one", "--name", "One")
      let lines = await box.run("apps", "list", environment: Self.chinese).lines
      let places = lines.map { line in
        line.prefix(upTo: line.lastIndex { $0.isWholeNumber || "效".contains($0) } ?? line.endIndex).description.columns
      }
      #expect(lines.count == 3 && Set(places.dropFirst()).count == 1, "\(lines)")
    }
  }

  @Test("JSON and other output for programs is the same in both languages")
  func programs() async throws {
    try await CommandRunner.with { box in
      try await Self.fill(box)
      let commands: [[String]] = [
        ["apps", "list", "--json"], ["apps", "show", "com.example.shop", "--json"], ["users", "list", "--json"],
        ["tokens", "list", "--json"], ["devices", "list", "--json"], ["devices", "export"],
        ["devices", "export", "--format", "csv"], ["schedules", "list", "--json"], ["incidents", "list", "--json"],
        ["retention", "show", "--json"], ["certificates", "list", "--json"], ["doctor", "--json"],
        ["check-certificates", "--no-probe", "--json"], ["check-certificates", "--no-probe", "--nagios"],
        ["manual"], ["completion", "bash"], ["completion", "zsh"], ["completion", "fish"], ["version"],
      ]
      for words in commands {
        let (english, chinese) = (await box.run(words), await box.run(words, environment: Self.chinese))
        #expect(english.code == chinese.code && english.output == chinese.output, "\(words)")
        #expect(!english.output.isEmpty)
      }
      // The JSON log, too: here of a server that does not start.
      let words = ["serve", "--log-format", "json", "--listen", "0.0.0.0:0"]
      let (english, chinese) = (await box.run(words), await box.run(words, environment: Self.chinese))
      #expect(english.code == 64 && english.errors == chinese.errors && english.errors.contains("unencrypted"))
    }
  }

  @Test(
    "any other locale has English, as without one", arguments: ["C", "C.UTF-8", "en_US.UTF-8", "zh_TW.UTF-8", "de_DE"])
  func english(locale: String) async throws {
    try await CommandRunner.with { box in
      try await Self.fill(box)
      for words in [
        ["--help"], ["help", "send"], ["apps", "list"], ["devices", "list"], ["apps", "show"], ["oidc", "show"],
      ] {
        let (plain, other) = (await box.run(words), await box.run(words, environment: ["LANG": locale]))
        #expect(plain.output == other.output && plain.errors == other.errors)
        // An example of a text in another language.
        let text = (other.output + other.errors).replacing("你好", with: "")
        #expect(!text.contains(/\p{Script=Han}/))
      }
    }
  }

  @Test("without its folder the command line is English")
  func withoutTables() async throws {
    try await CommandRunner.with { box in
      let environment = Self.chinese.merging(["SIGNALBOX_RESOURCES": box.folder]) { $1 }
      #expect(await box.run("--help", environment: environment).output == box.run("--help").output)
    }
  }

  @Test("a server says in Chinese where it runs, and logs in English")
  func server() async throws {
    try await CommandRunner.with { box in
      let child = try Child(
        ["env", "LC_ALL=zh_CN.UTF-8", try Child.signalbox(), "serve", "--data", box.data, "--listen", "127.0.0.1:0"],
        in: box.folder)
      try await eventually("it serves") { child.outputText.contains("首次使用") }
      child.send(SIGTERM)
      #expect(await child.status() == 0)
      #expect(child.outputText.contains("Signalbox \(Signalbox.version) 运行于 http://127.0.0.1:"))
      #expect(child.errorText.contains("listening"))
    }
  }
}
