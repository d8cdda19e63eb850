import Foundation
import Glibc
import JSON
import OpenSSL
import Testing

@testable import Arguments
@testable import signalbox

private let bash = "/usr/bin/bash"
private let zsh = "/usr/bin/zsh"
private let fish = "/usr/bin/fish"
private let groff = "/usr/bin/groff"

private func isThere(_ path: String) -> Bool { access(path, X_OK) == 0 }

/// Completion and the manual page are made from the description that `--help` is made of, and have all of it.
@Suite("signalbox completion, manual, version")
struct SelfDescriptionTests {
  private typealias Node = Program<Action>.Node
  private var nodes: [Node] { Signalbox.program.nodes }

  /// What can be typed after a command, besides values.
  private func words(_ node: Node) -> [String] {
    node.subcommands.map(\.name) + node.options.flatMap(\.words) + ["--help", "--version"]
  }

  private func output(_ box: CommandRunner, _ arguments: [String]) async throws -> String {
    let child = try Child(arguments, in: box.folder, seconds: 100)
    let status = await child.status()
    #expect(status == 0 && child.errorText.isEmpty, "\(arguments.first ?? ""): \(child.errorText)")
    return child.outputText
  }

  @Test("bash takes the script, and completes every command and option, and known values", .enabled(if: isThere(bash)))
  func completionOfBash() async throws {
    try await CommandRunner.with { box in
      let script = try box.file("completion", await box.run("completion", "bash").output)
      _ = try await output(box, [bash, "-n", script])
      var lines = [
        "source '\(script)'",
        "say() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _signalbox; echo \"${COMPREPLY[*]}\"; }",
      ]
      for node in nodes { lines.append("say \(Signalbox.program.name(node.path)) ''") }
      lines += [
        "say signalbox ap", "say signalbox send --environment ''", "say signalbox send --environment = dev",
        "say signalbox help ser", "say signalbox completion ''", "say signalbox send --title ''",
      ]
      let said = try await output(box, [bash, try box.file("driver", lines.joined(separator: "\n"))])
        .split(separator: "\n", omittingEmptySubsequences: false)
        .map { $0.split(separator: " ").map(String.init) }
      for (node, found) in zip(nodes, said) {
        let missing = Set(words(node)).subtracting(found)
        #expect(missing.isEmpty, "\(node.words): \(missing)")
      }
      #expect(
        said.dropFirst(nodes.count).prefix(6) == [
          ["apps"], ["development", "production"], ["development"], ["serve"],
          ["bash", "zsh", "fish", "--help", "--version"], [],
        ])
    }
  }

  @Test("the script for zsh has every command and option, and zsh takes it")
  func completionOfZsh() async throws {
    try await CommandRunner.with { box in
      let text = await box.run("completion", "zsh").output
      for node in nodes {
        let part = try #require(
          text.components(separatedBy: "\n\(node.function)() {\n").dropFirst().first?
            .components(separatedBy: "\n}").first, "\(node.words)")
        for word in words(node) {
          #expect(part.contains("'\(word)") || part.contains("'*\(word)"), "\(node.words): \(word)")
        }
      }
      let script = try box.file("_signalbox", text)
      guard isThere(zsh) else { return }
      _ = try await output(box, [zsh, "-n", script])
      let loaded = try await output(
        box, [zsh, "-f", "-c", "autoload -U compinit; compinit -u -D; source '\(script)'; print $_comps[signalbox]"])
      #expect(loaded == "_signalbox\n")
    }
  }

  @Test("the script for fish has every command and option, and fish completes them")
  func completionOfFish() async throws {
    try await CommandRunner.with { box in
      let text = await box.run("completion", "fish").output
      let rules = text.split(separator: "\n").map(String.init)
      for node in nodes {
        let head = "complete -c signalbox -n '__signalbox_at \(node.words)' "
        let own = rules.filter { $0.hasPrefix(head) }
        for name in node.subcommands.map(\.name) {
          #expect(own.contains { $0.hasPrefix("\(head)-a \(name) ") }, "\(node.words): \(name)")
        }
        for word in node.options.flatMap(\.words) {
          #expect(own.contains { $0.hasPrefix("\(head)-l \(word.dropFirst(2)) ") }, "\(node.words): \(word)")
        }
      }
      let script = try box.file("signalbox.fish", text)
      guard isThere(fish) else { return }
      _ = try await output(box, [fish, "-n", script])
      let asked = ["signalbox ap", "signalbox send --tag x --environment dev", "signalbox apps list --js"]
      let driver = "source '\(script)'; " + asked.map { "complete -C '\($0)'" }.joined(separator: "; ")
      let said = try await output(box, ["env", "HOME=\(box.folder)", fish, "--no-config", "-c", driver])
      #expect(said.split(separator: "\n").map { $0.prefix { $0 != "\t" } } == ["apps", "development", "--json"])
    }
  }

  @Test("the manual page has every command and option with its explanation, and is sound")
  func manual() async throws {
    try await CommandRunner.with { box in
      let text = await box.run("manual").output
      for node in nodes where node.command.action != nil {
        let name = Signalbox.program.name(node.path).replacing("-", with: "\\-")
        let part = try #require(
          text.components(separatedBy: "\n.SS \(name)\n").dropFirst().first?.components(separatedBy: "\n.S").first,
          "\(node.words)")
        for word in node.options.flatMap(\.words) {
          #expect(part.contains(word.replacing("-", with: "\\-")), "\(node.words): \(word)")
        }
      }
      guard isThere(groff) else { return }
      let page = try await output(
        box, [groff, "-k", "-man", "-ww", "-Tutf8", "-rLL=200n", try box.file("signalbox.1", text)])
      #expect(page.contains("SIGNALBOX_DATA") && page.contains("signalbox apps list"))
    }
  }

  @Test("what is sent, to whom, and what is removed or overwritten, no environment variable says")
  func variables() {
    let deeds = ["send", "restore", "backup", "retention set", "devices import", "schedules cancel", "rotate-key"]
    for node in nodes where deeds.contains(node.words) || node.path.last?.name == "remove" {
      // The way to the network is set up, not chosen for one push.
      let variables = node.command.parameters.compactMap { Signalbox.program.variable($0) }
        .filter { !["SIGNALBOX_PROXY", "SIGNALBOX_ALLOW_TARGET", "SIGNALBOX_TRUST"].contains($0) }
      #expect(variables == ["SIGNALBOX_DATA"], "\(node.words)")
    }
    #expect(Set(deeds).isSubset(of: nodes.map(\.words)))
  }

  @Test("the version is a command, too")
  func version() async throws {
    try await CommandRunner.with { box in
      #expect(await box.run("version").output == Signalbox.version + "\n")
      #expect(await box.run("version").output == box.run("--version").output)
    }
  }

  @Test("serve --help names every header that is taken from a trusted proxy")
  func proxyHeaders() async throws {
    try await CommandRunner.with { box in
      let help = await box.run("serve", "--help").output
      for name in ["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host"] { #expect(help.contains(name)) }
    }
  }

  @Test("wrong usage is one line, and where the help is")
  func usage() async throws {
    try await CommandRunner.with { box in
      for (words, message, command) in [
        (["apps", "list", "--jsn"], "Unknown option “--jsn”. Did you mean “--json”?", "signalbox apps list"),
        (
          ["certificates", "request"], "Use exactly one of --app, --host, and --renews.",
          "signalbox certificates request"
        ),
        (
          ["completion", "tcsh"], "Invalid value “tcsh” for <shell>: it is not bash, zsh, or fish.",
          "signalbox completion"
        ),
      ] {
        let result = await box.run(words)
        #expect(result.code == 64)
        #expect(result.errors == "signalbox: error: \(message)\nSee '\(command) --help'.\n")
      }
    }
  }

  @Test("inspect - reads standard input, to its end")
  func inspectInput() async throws {
    try await CommandRunner.with { box in
      let authority = try CertificateAuthority(
        subject: [.commonName("From a pipe")], notBefore: CommandRunner.noon - 86_400,
        notAfter: CommandRunner.noon + 86_400)
      let found = await box.run("inspect", "-", input: authority.certificate.pem)
      #expect(found.code == 0 && found.output.contains("From a pipe"), "\(found)")
      let json = await box.run("inspect", "-", "--json", input: authority.certificate.pem)
      #expect(json.code == 0 && json.json != nil)
      let empty = await box.run("inspect", "-")
      #expect(empty.code == 1 && empty.errors.hasPrefix("signalbox: error: standard input: "), "\(empty)")
      // In pieces, as a pipe brings it.
      _ = try box.file("pem", authority.certificate.pem)
      let script = #"{ head -c 100 pem; tail -c +101 pem; } | "$0" inspect -"#
      let child = try Child(["sh", "-c", script, try Child.signalbox()], in: box.folder, seconds: 60)
      #expect(await child.status() == 0 && child.outputText.contains("From a pipe"), "\(child.errorText)")
    }
  }
}
