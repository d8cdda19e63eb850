import Arguments

/// `signalbox version|completion|manual`: what the program says of itself.
enum SelfDescription {
  private static let shell = Argument<Shell>("shell", "bash, zsh or fish.") { text throws(BadValue) in
    guard let shell = Shell(rawValue: text) else { throw BadValue("is neither bash, zsh nor fish") }
    return shell
  }.among(Shell.allCases.map(\.rawValue))

  static let commands: [Command<Action>] = [
    Command(
      "completion", "Writes a script with which a shell completes command lines.",
      discussion: """
        bash: source <(signalbox completion bash)
        zsh: source <(signalbox completion zsh)
        fish: signalbox completion fish | source
        """, parameters: [shell.parameter]
    ) { values, io in
      io.write(Signalbox.program.completion(values[shell]))
      return ExitCode.done
    },
    Command("manual", "Writes the manual page; read it with: signalbox manual | man -l -") { _, io in
      io.write(Signalbox.program.manual(sections))
      return ExitCode.done
    },
    Command("version", "Tells the version.") { _, io in
      io.print(Signalbox.version)
      return ExitCode.done
    },
  ]

  private static let sections: [Program<Action>.Section] = [
    (
      "environment",
      [
        (
          "SIGNALBOX_…",
          "An option whose explanation names a variable may be given by that: what says how the program is set up. "
            + "What says what to send, to whom, and what to remove has none."
        ),
        ("SIGNALBOX_SECRET_KEY_FILE", "Where the key file is, if not secret.key in the data folder."),
      ]
    ),
    (
      "exit status",
      [
        ("0", "Done."), ("1", "Failed."), ("64", "Wrong usage."),
        ("75", "Not ended: send left devices over, and said who goes on."),
      ]
    ),
    (
      "files",
      [
        ("signalbox.sqlite", "In the data folder: everything."),
        ("secret.key", "In the data folder: opens the credentials in it. Keep a copy in another place."),
      ]
    ),
  ]
}
