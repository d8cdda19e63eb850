/// A shell that can complete a command line.
package enum Shell: String, Sendable, CaseIterable {
  case bash, zsh, fish
}

extension Program {
  /// A script that completes commands, options and known values.
  package func completion(_ shell: Shell) -> String {
    switch shell {
    case .bash: bash()
    case .zsh: zsh()
    case .fish: fish()
    }
  }

  /// A command with its path.
  struct Node {
    let path: [Command<Action>]
    let command: Command<Action>

    /// As `apps list`, without the program's name.
    var words: String { path.dropFirst().map(\.name).joined(separator: " ") }
    /// As `_signalbox_apps_list`: the name of a function.
    var function: String {
      "_" + path.map { $0.name.replacing("-", with: "_") }.joined(separator: "_")
    }
    /// The possible next words with their summaries.
    var subcommands: [(name: String, summary: String)] {
      let below = command.subcommands.map { ($0.name, $0.summary) }
      return path.count == 1 ? below + [("help", "Show the help of a command.")] : below
    }
    var options: [Parameter] { command.parameters.filter { !$0.words.isEmpty } }
    var arguments: [Parameter] { command.parameters.filter { $0.kind == .argument } }
  }

  /// Parents before children.
  var nodes: [Node] {
    func below(_ path: [Command<Action>], _ command: Command<Action>) -> [Node] {
      let path = path + [command]
      return [Node(path: path, command: command)] + command.subcommands.flatMap { below(path, $0) }
    }
    return below([], root)
  }

  private var function: String { "_" + root.name.replacing("-", with: "_") }

  // MARK: bash

  private func bash() -> String {
    let paths = nodes.dropFirst().map { "'\(name($0.path))'" } + ["'\(root.name) help'"]
    return """
      # bash completion for \(root.name): source it, or keep it in /usr/share/bash-completion/completions.
      \(function)() {
        local current=${COMP_WORDS[COMP_CWORD]} previous='' path=\(root.name) words='' files='' index
        (( COMP_CWORD > 0 )) && previous=${COMP_WORDS[COMP_CWORD-1]}
        # In --name=value the sign is a word of its own.
        if [[ $current == '=' ]]; then
          current=''
        elif [[ $previous == '=' ]] && (( COMP_CWORD > 1 )); then
          previous=${COMP_WORDS[COMP_CWORD-2]}
        fi
        for (( index = 1; index < COMP_CWORD; index++ )); do
          case "$path ${COMP_WORDS[index]}" in
            \(paths.joined(separator: "|"))) path="$path ${COMP_WORDS[index]}" ;;
          esac
        done
        case "$path" in
      \(nodes.map(bash).joined(separator: "\n"))
          '\(root.name) help') words='\(root.subcommands.map(\.name).joined(separator: " "))' ;;
        esac
        if [[ -n $words ]]; then mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"); fi
        if [[ -n $files && $current != -* ]]; then
          compopt -o filenames 2>/dev/null
          mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen "$files" -- "$current")
        fi
      }
      complete -F \(function) \(root.name)

      """
  }

  private func bash(_ node: Node) -> String {
    var lines = ["    '\(name(node.path))')"]
    let valued = node.options.filter(\.takesValue)
    if !valued.isEmpty {
      lines.append("      case \"$previous\" in")
      for option in valued {
        let action =
          switch option.values {
          case .file: "files=-f"
          case .folder: "files=-d"
          case .choices(let choices): "words='\(choices.joined(separator: " "))'"
          case .free: "return"
          }
        lines.append("        \(option.words.joined(separator: "|"))) \(action) ;;")
      }
      lines.append("        *)")
    }
    var words = node.subcommands.map(\.name) + node.options.flatMap(\.words) + ["--help", "--version"]
    for argument in node.arguments {
      switch argument.values {
      case .file: lines.append("          files=-f")
      case .folder: lines.append("          files=-d")
      case .choices(let choices): words = choices + words
      case .free: break
      }
    }
    lines.append("          words='\(words.joined(separator: " "))'")
    if !valued.isEmpty { lines += ["          ;;", "      esac"] }
    return (lines + ["      ;;"]).joined(separator: "\n")
  }

  // MARK: zsh

  private func zsh() -> String {
    """
    #compdef \(root.name)
    # zsh completion for \(root.name): source it, or keep it as _\(root.name) in a folder of $fpath.
    \(nodes.map(zsh).joined(separator: "\n"))
    if [ "$funcstack[1]" = '\(function)' ]; then
      \(function) "$@"
    else
      compdef \(function) \(root.name)
    fi

    """
  }

  private func zsh(_ node: Node) -> String {
    guard node.command.action == nil else { return zshLeaf(node) }
    let commands = node.subcommands.map { "    \(quoted("\($0.name):\($0.summary)"))" }
    let cases = node.command.subcommands.map { below in
      "    \(below.name)) \(Node(path: node.path + [below], command: below).function) ;;"
    }
    return """
      \(node.function)() {
        local -a commands
        commands=(
      \(commands.joined(separator: "\n"))
        )
        if (( CURRENT == 2 )); then
          _describe -t commands command commands
          _arguments '--help[Show help information.]' '--version[Show the version.]'
          return
        fi
        local command=$words[2]
        shift words
        (( CURRENT-- ))
        case $command in
      \(cases.joined(separator: "\n"))
        esac
      }
      """
  }

  private func zshLeaf(_ node: Node) -> String {
    var specs: [String] = []
    for option in node.options {
      let help = zshText(option.help)
      let star = option.isRepeated ? "*" : ""
      for word in option.words {
        specs.append(
          option.takesValue
            ? "\(star)\(word)=[\(help)]:\(zshText(option.label)):\(zshAction(option))" : "\(word)[\(help)]")
      }
    }
    specs += ["--help[Show help information.]", "--version[Show the version.]"]
    for argument in node.arguments {
      specs.append("\(argument.isRepeated ? "*" : ""):\(zshText(argument.label)):\(zshAction(argument))")
    }
    let lines = specs.map { "    \(quoted($0))" }.joined(separator: " \\\n")
    return "\(node.function)() {\n  _arguments \\\n\(lines)\n}"
  }

  private func zshAction(_ parameter: Parameter) -> String {
    switch parameter.values {
    case .file: "_files"
    case .folder: "_files -/"
    case .choices(let choices): "(\(choices.joined(separator: " ")))"
    case .free: " "
    }
  }

  /// Escapes text for a specification of `_arguments`.
  private func zshText(_ text: String) -> String {
    text.replacing("\\", with: "\\\\").replacing(":", with: "\\:").replacing("[", with: "\\[")
      .replacing("]", with: "\\]")
  }

  /// Quotes a word for bash and zsh.
  private func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }

  // MARK: fish

  private func fish() -> String {
    let known = nodes.dropFirst().map { fishQuoted($0.words) } + ["help"]
    var lines = [
      "# fish completion for \(root.name): source it, or keep it in ~/.config/fish/completions.",
      "function _\(function)_at",
      "    set -l path",
      "    for word in (commandline -opc)[2..]",
      "        if contains -- (string join -- ' ' $path $word) \(known.joined(separator: " "))",
      "            set -a path $word",
      "        end",
      "    end",
      "    test \"$path\" = \"$argv\"",
      "end",
      "complete -c \(root.name) -f",
      "complete -c \(root.name) -l help -s h -d 'Show help information.'",
      "complete -c \(root.name) -l version -d 'Show the version.'",
    ]
    for node in nodes {
      let head = "complete -c \(root.name) -n \(fishQuoted("_\(function)_at \(node.words)"))"
      for (name, summary) in node.subcommands { lines.append("\(head) -a \(name) -d \(fishQuoted(summary))") }
      for option in node.options {
        for word in option.words {
          let value = option.takesValue ? " \(fishAction(option))" : ""
          lines.append("\(head) -l \(word.dropFirst(2))\(value) -d \(fishQuoted(option.help))")
        }
      }
      for argument in node.arguments {
        switch argument.values {
        case .file: lines.append("\(head) -F")
        case .folder: lines.append("\(head) -a '(__fish_complete_directories)'")
        case .choices(let choices): lines.append("\(head) -a \(fishQuoted(choices.joined(separator: " ")))")
        case .free: break
        }
      }
    }
    let commands = fishQuoted(root.subcommands.map(\.name).joined(separator: " "))
    lines.append("complete -c \(root.name) -n '_\(function)_at help' -a \(commands)")
    return lines.joined(separator: "\n") + "\n"
  }

  private func fishAction(_ parameter: Parameter) -> String {
    switch parameter.values {
    case .file: "-r -F"
    case .folder: "-x -a '(__fish_complete_directories)'"
    case .choices(let choices): "-x -a \(fishQuoted(choices.joined(separator: " ")))"
    case .free: "-x"
    }
  }

  private func fishQuoted(_ text: String) -> String {
    "'" + text.replacing("\\", with: "\\\\").replacing("'", with: "\\'") + "'"
  }
}

extension Parameter {
  /// The kind of a value, for completion.
  enum Values {
    case file, folder
    case choices([String])
    case free
  }

  var values: Values {
    if !choices.isEmpty { return .choices(choices) }
    return label == "file" ? .file : label == "dir" ? .folder : .free
  }

  /// `--name`, sometimes with `--no-name`; none for everything else.
  var words: [String] {
    switch kind {
    case .argument, .option(onlyFromEnvironment: true): []
    case .flag(isInvertible: true): ["--\(name)", "--no-\(name)"]
    default: ["--\(name)"]
    }
  }

  var takesValue: Bool { kind == .option(onlyFromEnvironment: false) }
}
