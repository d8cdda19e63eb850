#!/usr/bin/env python3
"""Writes the SBOM of a built package, SPDX 2.3 as JSON (https://spdx.github.io/spdx-spec/v2.3/).

Lists the program with its hash, the Swift toolchain whose runtime is linked into it, and the Debian packages of the C
libraries that it loads, as they were on the machine that built it.
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import re
import subprocess


def run(*words):
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout


def libraries(program):
    """Debian's packages of the libraries that the program itself names, with their versions."""
    found = {}
    needed = re.findall(r"NEEDED\s+(\S+)", run("objdump", "-p", program))
    paths = dict(re.findall(r"(\S+) => (/\S+)", run("ldd", program)))
    for name in needed:
        path = pathlib.Path(paths.get(name, "")).resolve()
        # /lib is a link to /usr/lib, and packages may name either.
        for candidate in (str(path), str(path).removeprefix("/usr"), paths.get(name, "")):
            owner = subprocess.run(["dpkg-query", "-S", candidate], capture_output=True, text=True)
            if owner.returncode == 0:
                package = owner.stdout.split(": ")[0].split(",")[0].split(":")[0]
                found[package] = run("dpkg-query", "-W", "-f", "${Version}\n", package).split("\n")[0]
                break
        else:
            if name != "ld-linux-x86-64.so.2":
                raise SystemExit(f"no Debian package has {name}")
    return sorted(found.items())


def package(identifier, name, version, purpose, license_, reference=None, **more):
    entry = {
        "SPDXID": f"SPDXRef-{identifier}",
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": False,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": license_,
        "copyrightText": "NOASSERTION",
        "primaryPackagePurpose": purpose,
    }
    if reference:
        entry["externalRefs"] = [
            {"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": reference}
        ]
    return entry | more


def main():
    options = argparse.ArgumentParser()
    for name in ("--version", "--program", "--time"):
        options.add_argument(name, required=True)
    given = options.parse_args()
    digest = hashlib.sha256(pathlib.Path(given.program).read_bytes()).hexdigest()
    swift = re.search(r"Swift version (\S+)", run("swift", "--version")).group(1)
    packages = [
        package(
            "signalbox", "signalbox", given.version, "APPLICATION", "NOASSERTION",
            checksums=[{"algorithm": "SHA256", "checksumValue": digest}], packageFileName="usr/bin/signalbox"),
        package(
            "swift", "swift", swift, "LIBRARY", "Apache-2.0", f"pkg:github/swiftlang/swift@swift-{swift}-RELEASE",
            comment="Standard library, Foundation, Dispatch and Regex, linked statically."),
    ]
    relations = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-signalbox")]
    relations.append(("SPDXRef-signalbox", "STATIC_LINK", "SPDXRef-swift"))
    for name, version in libraries(given.program):
        identifier = re.sub(r"[^A-Za-z0-9.-]", "-", name)
        packages.append(
            package(identifier, name, version, "LIBRARY", "NOASSERTION", f"pkg:deb/debian/{name}@{version}"))
        relations.append(("SPDXRef-signalbox", "DYNAMIC_LINK", f"SPDXRef-{identifier}"))
    created = datetime.datetime.fromtimestamp(int(given.time), datetime.timezone.utc)
    document = {
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"signalbox-{given.version}",
        "documentNamespace": f"urn:signalbox:spdx:{given.version}:{digest[:16]}",
        "creationInfo": {
            "created": created.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "creators": ["Tool: script/package"],
        },
        "packages": packages,
        "relationships": [
            {"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in relations
        ],
    }
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main()
