import JSON

// JPush, REST API v3, error codes (docs/protocols.md §4.3). A code is kept as `JPush 1011`.

extension Reason {
  static let jpush: [Reason] = jpushPush + jpushOthers

  private static let jpushPush: [Reason] = [
    Reason(
      "JPush 1000", .jpush, 500, .later, .nobody,
      cause: "JPush had an internal error.", remedy: "No action needed: it is retried later."),
    Reason(
      "JPush 1001", .jpush, 405, .never, .operations,
      cause: "The request was not a POST.", remedy: "Check for a proxy between this server and JPush."),
    Reason(
      "JPush 1002", .jpush, 400, .never, .appDeveloper,
      cause: "A required parameter is missing.", remedy: "See JPush's message in the answer for the parameter's name."),
    Reason(
      "JPush 1003", .jpush, 400, .never, .appDeveloper,
      cause: "A value is not allowed, often an alias or tag with a character that JPush refuses, e.g. “-”.",
      remedy: "See JPush's message in the answer and the push's checks."),
    Reason(
      "JPush 1004", .jpush, 401, .afterCredential, .operations,
      cause: "The AppKey and master secret do not match.",
      remedy: "Copy the AppKey and the master secret again, from the same app in the JPush console."),
    Reason(
      "JPush 1005", .jpush, 400, .never, .appDeveloper,
      cause: "The message is too long. The limit is 2000 bytes for iOS and 4000 for "
        + "Android.", remedy: "Shorten the text or the extra data."),
    Reason(
      "JPush 1008", .jpush, 400, .afterCredential, .operations,
      cause: "JPush does not know the AppKey.", remedy: "Copy the AppKey again from the JPush console."),
    Reason(
      "JPush 1009", .jpush, 400, .never, .appDeveloper,
      cause: "The request contains a key that JPush does not "
        + "support.", remedy: "Remove the key that the message names."),
    Reason(
      "JPush 1011", .jpush, 400, .never, .appDeveloper,
      cause: "JPush knows no device in this audience, or none was active in the last 255 days. Often the registration "
        + "ID belongs to another AppKey, the alias was never set, or the environment (apns_production) is wrong.",
      remedy: "Check the environment on the device's page, and read the data at JPush there: if JPush does not know "
        + "the registration ID, compare the AppKey of the app."),
    Reason(
      "JPush 1012", .jpush, 400, .later, .operations,
      cause: "Too many pushes with a speed limit are running.", remedy: "Wait until one of them has finished."),
    Reason(
      "JPush 1020", .jpush, 404, .never, .operations,
      cause: "JPush accepts only HTTPS.", remedy: "Change the endpoint to https://."),
    Reason(
      "JPush 1030", .jpush, 503, .later, .nobody,
      cause: "JPush did not answer in time.", remedy: "No action needed: it is retried later."),
    Reason(
      "JPush 2002", .jpush, 429, .later, .operations,
      cause: "The AppKey exceeded its calls per minute (600 on the free plan).",
      remedy: "Set a speed limit on the push, or send to more devices per call."),
    Reason(
      "JPush 2003", .jpush, 403, .afterCredential, .operations,
      cause: "JPush has blocked the AppKey.", remedy: "Contact JPush support."),
    Reason(
      "JPush 2004", .jpush, 403, .afterCredential, .operations,
      cause: "This server's IP address is not on the AppKey's allow list.", remedy: "Add it in the JPush console."),
    Reason(
      "JPush 2005", .jpush, 403, .later, .operations,
      cause: "The AppKey sends more messages than its plan allows.",
      remedy: "It is retried later. Ask JPush for a larger plan."),
    Reason(
      "JPush 2006", .jpush, 403, .never, .operations,
      cause: "JPush offers this to VIP customers only.", remedy: "Ask JPush, or leave it out."),
    Reason(
      "JPush 2007", .jpush, 403, .never, .operations,
      cause: "The AppKey has no right to make this call.", remedy: "Ask JPush support to enable it."),
    Reason(
      "JPush 2008", .jpush, 403, .later, .operations,
      cause: "The AppKey sends broadcasts too often.", remedy: "It is retried later. Send fewer broadcasts."),
    Reason(
      "JPush 2009", .jpush, 403, .later, .operations,
      cause: "JPush limits the AppKey's pushes for now.",
      remedy: "It is retried later. If the error persists, contact JPush support."),
  ]

  /// Devices, schedules and reports.
  private static let jpushOthers: [Reason] = [
    Reason(
      "JPush 7000", .jpush, 500, .later, .nobody,
      cause: "JPush's device service had an internal error.",
      remedy: "Try again later."),
    Reason(
      "JPush 7001", .jpush, 401, .afterCredential, .operations,
      cause: "The call had no AppKey and master secret.",
      remedy: "Assign the keys again on the app's page. Check for a proxy that removes headers."),
    Reason(
      "JPush 7002", .jpush, 400, .never, .appDeveloper,
      cause: "JPush refuses a value: an unknown registration ID, or an alias or tag that JPush's rules forbid.",
      remedy: "See JPush's message for the value. Aliases and tags have at most 40 bytes, without “-”."),
    Reason(
      "JPush 7004", .jpush, 401, .afterCredential, .operations,
      cause: "The AppKey and master secret do not match.",
      remedy: "Copy the AppKey and the master secret again, from the same app in the JPush console."),
    Reason(
      "JPush 7008", .jpush, 400, .afterCredential, .operations,
      cause: "JPush does not know the AppKey.",
      remedy: "Copy the AppKey again from the JPush console."),
    Reason(
      "JPush 7013", .jpush, 400, .never, .appDeveloper,
      cause: "JPush refused some of the registration IDs, and changed nothing.",
      remedy: "Leave out the IDs that JPush's message names."),
    Reason(
      "JPush 7015", .jpush, 400, .never, .appDeveloper,
      cause: "The alias already has 10 devices, which is JPush's limit.",
      remedy: "Remove the alias from a device that is no longer used, or send by tag."),
    Reason(
      "JPush 7030", .jpush, 503, .later, .nobody,
      cause: "JPush's device service is busy.",
      remedy: "Try again later."),
    Reason(
      "JPush 8100", .jpush, 400, .never, .appDeveloper,
      cause: "JPush refuses a value of the schedule.",
      remedy: "See JPush's message for the value."),
    Reason(
      "JPush 8101", .jpush, 401, .afterCredential, .operations,
      cause: "The AppKey and master secret do not match.",
      remedy: "Copy the AppKey and the master secret again, from the same app in the JPush console."),
    Reason(
      "JPush 8104", .jpush, 404, .never, .nobody,
      cause: "JPush has no such schedule: it has ended, or someone deleted it.",
      remedy: "List the schedules again."),
    Reason(
      "JPush 8200", .jpush, 500, .later, .nobody,
      cause: "JPush's schedule service had an internal error.",
      remedy: "Try again later."),
    Reason(
      "JPush 8203", .jpush, 503, .later, .nobody,
      cause: "JPush's schedule service did not answer in time.",
      remedy: "Try again later."),
    Reason(
      "JPush 10", .jpush, 500, .later, .nobody,
      cause: "JPush's report service had an internal error.",
      remedy: "No action needed: it is asked again later."),
    Reason(
      "JPush 3001", .jpush, 401, .afterCredential, .operations,
      cause: "The AppKey and master secret do not match.",
      remedy: "Copy the AppKey and the master secret again, from the same app in the JPush console."),
  ]
}
