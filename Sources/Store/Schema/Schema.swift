package import SQLite

/// The tables, one file per noun.
///
/// All tables are STRICT. Times are INTEGER, milliseconds since 1970, UTC. Environments, platforms, states and outcomes
/// are numbers in tables with millions of rows (`Environment.code` and similar), text elsewhere. Row IDs referenced
/// from elsewhere (an `apns-id`, the activity log, a finished push) are AUTOINCREMENT: a deleted device's ID is never
/// reused.
package enum Schema {
  /// `SGBX`: identifies a Signalbox database, also for `file`.
  package static let applicationID: Int32 = 0x5347_4258

  /// All steps, oldest first. Append only: a released step never changes, and neither do the tables in this folder. A
  /// later change is a step of its own below the first one, in the file of its noun.
  package static let migrator = Migrator(
    applicationID: applicationID,
    [
      firstRelease, jpush, receipts, proxies, channels, badges, pageRules, deviceProviders, deviceNames, topics,
      pushAnnouncements, deliveryBadges, incidents, topicChanges, smokeTests, drafts,
      templates, segments, webhooks, tokenLimits, auditChain, signIn, incidentMessages, enrollments, oidc, approvals,
      incidentEnds, shownSecondSteps, localizations, incidentMoves, acceptedBefore, messageNames,
      audienceUses, repeatedApprovals, pushTypes, receiptServices, removedSchedules,
      pausedApprovals, approvalMessages, approvedRules, replacedTokens, jpushMessageIDs, deliveryAnswers,
    ])

  /// The schema of the first release.
  static let firstRelease = Migration(
    id: "2026-11-22 first release",
    sql: [apps, people, certificates, credentials, hosts, reminders, devices, phones, pushes, schedules]
      .joined(separator: "\n"))
}
