"""Refuses tests of which a closure would run another closure's body: script/closures [--all]

Looks at the tests that changed since the commit in script/lib/closures.checked; --all at all of them, and writes the
present commit there if none is refused. Do that from time to time: what a test calls may get another type.

Swift 6.3.1 numbers closures twice where a macro stands inside a closure. The literals that stand in the enclosing
closure are counted from 0; what #expect and #require expand to is counted on its own, from 0 or 1. Where both counts
meet at closures of the same type, both get one name, the compiler writes out the first of them only, and the other
silently runs that body:

    try await Scene.with { scene in
      let link = try #require(links.first { $0.name == "a" })  // number 1 of type (Link) -> Bool
      let gone = links.contains { $0.name == "b" }             // also number 1: asks for "a"
    }

It can strike in either direction, and with values passed to @autoclosure parameters too. So this asks the compiler
itself, after `swift build --build-tests`: it reads the checked syntax trees of the tests, and names the closures that
share parent, kind, number and type. Checking types takes as long as it takes the build: it is left out for files that
have no closure with both a macro and another closure beside it, as the parser alone can tell.

Repair: take the closure out of the macro (`let link = links.first { ... }`, then `try #require(link)`), or use a key
path, or put the lines into a function.
"""

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

NODE = re.compile(r"^( *)\((?:([a-z_]+)=)?([a-z_]+)")
PLACE = re.compile(r" location=(@?[^ ]+?):(\d+):(\d+) range=")
NUMBER = re.compile(r" discriminator=(\S+)")
TYPE = re.compile(r' type="([^"]*)"')
# Names the commit at which all tests were looked at.
CHECKED = "script/lib/closures.checked"
CLOSURES = ("closure_expr", "autoclosure_expr")
# What takes its right side as an @autoclosure.
OPERATOR = re.compile(r'\(unresolved_decl_ref_expr .*name="(?:&&|\|\||\?\?)"')
FUNCTIONS = ("func_decl", "constructor_decl", "destructor_decl", "accessor_decl", "parameter")


def clashes(tree):
    """The closures of one module that share a name: lists of places. `tree` gives the lines of -dump-ast."""
    path = []  # the nodes around the line: (indent, tag, own name or None, place of a macro or None)
    found = defaultdict(dict)
    count = 0
    skip = None  # inside a node that is not compiled: the indent of that node
    for line in tree:
        node = NODE.match(line)
        if not node:
            continue
        indent, role, tag = len(node[1]), node[2], node[3]
        if skip is not None and indent > skip:
            continue
        skip = None
        while path and path[-1][0] >= indent:
            path.pop()
        # The arguments of a macro are compiled as part of its expansion, an initial value in its processed form.
        if role == "original_init" or (tag == "argument_list" and path and path[-1][1] == "macro_expansion_expr"):
            skip = indent
            continue
        name = macro = None
        place = PLACE.search(line)
        if tag in CLOSURES and place:
            parent = next((p[2] for p in reversed(path) if p[2]), None)
            shown = next((p[3] for p in reversed(path) if p[3]), f"{place[1]}:{place[2]}:{place[3]}")
            number, kind = NUMBER.search(line), TYPE.search(line)
            name = (tag, place.groups())
            # Closures directly in a function are numbered once. A node may be printed twice: it has one place.
            if parent and parent[0] in CLOSURES and number and kind:
                count += 1
                found[parent, tag, number[1], kind[1]][place.groups()] = shown
        elif tag in FUNCTIONS:
            name = (tag, line.strip())
        elif tag == "macro_expansion_expr" and place and not place[1].startswith("@"):
            macro = f"{place[1]}:{place[2]}:{place[3]}"
        path.append((indent, tag, name, macro))
    return count, [(key[3], sorted(set(places.values()))) for key, places in found.items() if len(places) > 1]


def suspects(tree):
    """The files in which a closure has a macro directly in it, and another closure beside the macro. `tree` gives the
    lines of -dump-parse, in which nothing has a type yet, and macros are as they were written."""
    path = []  # the nodes around the line: (indent, tag, what was found directly in it)
    files, file = set(), None
    for line in tree:
        # The tree of a file ends without the end of a line.
        start = line.find('(source_file "')
        if start >= 0:
            path, file = [], line[start:].split('"')[1]
            continue
        node = NODE.match(line)
        if not node:
            continue
        indent, tag = len(node[1]), node[3]
        while path and path[-1][0] >= indent:
            path.pop()
        is_closure = tag in CLOSURES or OPERATOR.search(line)
        what = "closure" if is_closure else "macro" if tag == "macro_expansion_expr" else None
        around = next((p for p in reversed(path) if p[1] in (*CLOSURES, *FUNCTIONS, "macro_expansion_expr")), None)
        if what and around and around[1] in CLOSURES:
            around[2].add(what)
            if len(around[2]) == 2:
                files.add(file)
        path.append((indent, tag, set()))
    return files


# What the compiler must be found to get wrong; else there is nothing to look for, or this no longer reads its tree.
EXAMPLE = """
import Testing
func scene(_ body: () -> Void) { body() }
func example(_ names: [String]) {
  scene {
    #expect(names.contains { $0 == "a" })
    let gone = !names.contains { $0 == "b" }
    if gone { return }
  }
}
"""


def read(call, reader):
    """What `reader` makes of the lines that the compiler prints."""
    with subprocess.Popen(
        call, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as compiler:
        found = reader(compiler.stdout)
    if compiler.returncode:
        sys.exit(f"script/closures: this failed: {' '.join(call)}")
    return found


def git(*words):
    """What git prints; nothing if it fails, as in a copy without history."""
    return subprocess.run(["git", *words], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


def unchanged():
    """The files of tests that are as they were when all were checked, wherever they lay."""
    with open(CHECKED, encoding="utf-8") as file:
        commit = file.read().strip()
    known = {line.split()[2] for line in git("ls-tree", "-r", commit, "Tests").splitlines()}
    files = [file for file in git("ls-files", "Tests").splitlines() if file.endswith(".swift") and os.path.exists(file)]
    contents = git("hash-object", *files).splitlines()
    return {os.path.abspath(file) for file, content in zip(files, contents) if content in known}


def run(call, files, checked=frozenset()):
    """The closures, and the clashes, of those files of a module in which there may be one."""
    primary = [word for file in files if file not in checked for word in ("-primary-file", file)]
    if not primary:
        return 0, []
    chosen = read(["swiftc", "-frontend", "-dump-parse", "-swift-version", "6", *primary], suspects)
    if not chosen:
        return 0, []
    # As the driver calls the compiler for some files of the module, but for those that are chosen.
    shown = [*call, *files, "-dump-ast", "-###", "-driver-filelist-threshold=9999"]
    job = shlex.split(subprocess.check_output(shown, text=True).splitlines()[0])
    start = job.index("-primary-file")
    rest = [word for word in job[start:] if word not in ("-primary-file", "-o", "-", *files)]
    inputs = [word for file in files for word in (["-primary-file"] if file in chosen else []) + [file]]
    return read([*job[:start], *inputs, *rest, *["-o", "-"] * len(chosen)], clashes)


def example():
    """Whether this compiler makes the error, and prints it in a way that is understood here."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "Example.swift")
        with open(path, "w", encoding="utf-8") as file:
            file.write(EXAMPLE)
        return bool(run(["swiftc", "-parse-as-library", "-swift-version", "6"], [path])[1])


def call(command):
    """How the build calls the compiler for a module, without what it writes beside the module; and the files."""
    kept, skip = [], 0
    for word in command["otherArguments"]:
        skip = {"-index-store-path": 2, "-incremental": 1, "-serialize-diagnostics": 1, "-parseable-output": 1}.get(
            word, skip)
        if not skip:
            kept.append(word)
        skip = max(0, skip - 1)
    files = [i["name"] for i in command["inputs"] if i["name"].endswith(".swift")]
    return [command["executable"], *kept, "-I", command["importPath"], "-module-name", command["moduleName"]], files


def main(arguments):
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
    if arguments not in ([], ["--all"]):
        print("usage: script/closures [--all]", file=sys.stderr)
        return 64
    checked = frozenset() if arguments else unchanged()
    if not example():
        print("script/closures: this compiler shows no clash in the example; nothing to look for", file=sys.stderr)
        return 0
    with open(".build/debug/description.json", encoding="utf-8") as file:
        commands = {c["moduleName"]: c for c in json.load(file)["swiftCommands"].values()}
    tests = [m for m in sorted(commands) if m == "TestSupport" or m.endswith("Tests") and not m.endswith("PackageTests")]
    closures = bad = 0
    # The time is the compiler's, and it uses one core for a module.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda module: run(*call(commands[module]), checked), tests))
    for count, found in results:
        closures += count
        for kind, places in found:
            bad += 1
            print(f"closures of type {kind} that share one name, so that one runs the other's body:", file=sys.stderr)
            for place in places:
                print(f"  {os.path.relpath(place)}", file=sys.stderr)
    print(f"script/closures: {closures} closures inside closures, {bad} clashes", file=sys.stderr)
    if bad:
        print("Take the closure out of the macro, into a constant: script/lib/closures.py says why.", file=sys.stderr)
    if arguments and not bad and not git("status", "--porcelain", "Tests"):
        with open(CHECKED, "w", encoding="utf-8") as file:
            file.write(git("rev-parse", "HEAD"))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
