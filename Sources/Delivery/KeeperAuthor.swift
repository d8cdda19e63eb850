package import Foundation

/// Who changes something at a push service, and when, for the activity log. ``ChannelKeeper``, ``TopicKeeper`` and
/// ``JPushKeeper`` ask for it.
package struct KeeperAuthor: Sendable {
  let actor: String
  /// The client's; nil: this machine.
  let address: String?
  let now: Date

  package init(_ actor: String, from address: String? = nil, now: Date) {
    (self.actor, self.address, self.now) = (actor, address, now)
  }
}
