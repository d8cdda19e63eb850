#!/usr/bin/env bash
# Type-checks the measuring programs against the rooms as `swift build --build-tests` left them: a change that breaks
# them is noticed without the minutes that building them takes.
set -euo pipefail
cd "$(dirname "$0")/../../.."

# As SwiftPM names the package to the compiler: by its folder. See Benchmarks/Package.swift.
package=$(basename "$PWD" | tr '[:upper:]' '[:lower:]' | tr -c '[:alnum:]\n' _)
call=(swiftc -typecheck -swift-version 6 -package-name "$package" -I "$(swift build --show-bin-path)/Modules")
for map in "$PWD"/Sources/*/module.modulemap; do call+=(-Xcc "-fmodule-map-file=$map"); done
"${call[@]}" Benchmarks/Sources/signalbox-bench/*.swift
echo "The measuring programs fit."
