/// Hears from a ``ClientGroup``, always on its loop's thread.
package protocol ClientGroupHandler: AnyObject {
  /// Requests ended, each exactly once. `notProcessed` only if it was cancelled, or refused too often.
  func group(_ group: ClientGroup, ended answers: [Answer])
  /// The group's state is another than before.
  func group(_ group: ClientGroup, changed state: ClientGroup.State)
  /// A connection's end was announced; the group goes on with another.
  func group(_ group: ClientGroup, heard goAway: GoAway)
  /// Requests are about to be sent: the moment to refresh what ages, by ``ClientGroup/setSharedFields(_:)``.
  func groupWillSend(_ group: ClientGroup)
}
