internal import JSON
internal import Model

/// What became of a push as a whole.
package enum PushResult: String, Sendable, CaseIterable {
  /// Push services took it for every device.
  case accepted
  /// They took it for some, or it is not known.
  case partly
  /// No device can have got it.
  case nobody
}

extension Push {
  /// Nil: it is not over, or was a dry run, which reaches nobody on purpose.
  package var result: PushResult? {
    guard state.isOver, !isSettling, !isDryRun else { return nil }
    if counts.accepted + counts.unknown == 0 { return .nobody }
    return counts.accepted == target ?? counts.total ? .accepted : .partly
  }

  private var isDryRun: Bool {
    // Not the whole draft: lists of pushes ask for it.
    RawJSON(object: draftJSON)?.member("options")?.contains("\"dry_run\":true") ?? false
  }
}
