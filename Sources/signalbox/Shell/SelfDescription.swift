import Arguments
import Text

/// `signalbox version`, `completion` and `manual`.
enum SelfDescription {
  private static let shell = Argument<Shell>(
    "shell", "The shell: bash, zsh, or fish.", parseWord(or: BadValue("is not bash, zsh, or fish"))
  ).among(Shell.allCases.map(\.rawValue))

  static let commands: [Command<Action>] = [
    Command(
      "completion", "Print a shell completion script.",
      discussion: """
        bash: source <(signalbox completion bash)
        zsh: source <(signalbox completion zsh)
        fish: signalbox completion fish | source
        """, parameters: [shell.parameter]
    ) { values, io in
      io.write(Signalbox.program.completion(values[shell]))
      return ExitCode.done
    },
    Command("manual", "Print the manual page. To read it: signalbox manual | man -l -") { _, io in
      io.write(Signalbox.program.manual(sections))
      return ExitCode.done
    },
    Command("version", "Print the version.") { _, io in
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
          "Options whose description names a variable can be set with it. These are the options that configure the "
            + "program, not those that choose what to send or delete."
        ),
        ("SIGNALBOX_SECRET_KEY_FILE", "The path of the key file (default: secret.key in the data folder)."),
        (
          "SIGNALBOX_PASSWORD_FILE, SIGNALBOX_PROXY_FILE, SIGNALBOX_PROXY_PASSWORD_FILE",
          "A file with the value of the variable without _FILE."
        ),
      ]
    ),
    (
      "exit status",
      [
        ("0", "Success."), ("1", "Failure."), ("64", "Wrong usage."),
        ("75", "Not finished: send left some devices and reported what continues with them."),
      ]
    ),
    (
      "files",
      [
        ("signalbox.sqlite", "The database, in the data folder."),
        (
          "secret.key",
          "The key that decrypts stored credentials, in the data folder. Keep a copy in a different place."
        ),
      ]
    ),
  ]
}
