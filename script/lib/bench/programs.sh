# Sourced by script/bench and script/watch-broadcast: builds the programs, and names them in $signalbox and $bench.
# SIGNALBOX_BENCH_BIN=DIR takes both from that folder, and builds nothing.

if [ -n "${SIGNALBOX_BENCH_BIN:-}" ]; then
  signalbox=$SIGNALBOX_BENCH_BIN/signalbox
  bench=$SIGNALBOX_BENCH_BIN/signalbox-bench
else
  script/bootstrap --bench
  measuring=(-c release --static-swift-stdlib --package-path Benchmarks --scratch-path .build/benchmarks)
  swift build -c release --static-swift-stdlib --product signalbox >&2
  swift build "${measuring[@]}" --product signalbox-bench >&2
  signalbox=$(swift build -c release --show-bin-path)/signalbox
  bench=$(swift build "${measuring[@]}" --show-bin-path)/signalbox-bench
fi
