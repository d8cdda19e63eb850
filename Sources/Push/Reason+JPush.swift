// JPush, REST API v3 push, error codes (docs/protocols.md §4.3). A code is kept as `JPush 1011`.

extension Reason {
  static let jpush: [Reason] = [
    Reason(
      "JPush 1000", .jpush, 500, .later, .nobody,
      cause: "Something failed at JPush.", remedy: "Nothing: it is tried again later."),
    Reason(
      "JPush 1001", .jpush, 405, .never, .operations,
      cause: "The request was not a POST.", remedy: "Look for a proxy between this server and JPush."),
    Reason(
      "JPush 1002", .jpush, 400, .never, .appDeveloper,
      cause: "A needed parameter is missing.", remedy: "See JPush's message in the answer: it names the parameter."),
    Reason(
      "JPush 1003", .jpush, 400, .never, .appDeveloper,
      cause: "A value is not allowed, often an alias or tag with a character that JPush refuses, as “-”.",
      remedy: "See JPush's message in the answer, and the linter's findings on the push."),
    Reason(
      "JPush 1004", .jpush, 401, .afterCredential, .operations,
      cause: "AppKey and Master Secret do not belong together.",
      remedy: "Copy both again from JPush's console, from the same app."),
    Reason(
      "JPush 1005", .jpush, 400, .never, .appDeveloper,
      cause: "The message is too long: iOS 2000 bytes, Android 4000.", remedy: "Shorten the text or the extras."),
    Reason(
      "JPush 1008", .jpush, 400, .afterCredential, .operations,
      cause: "JPush does not know the AppKey.", remedy: "Copy the AppKey again from JPush's console."),
    Reason(
      "JPush 1009", .jpush, 400, .never, .appDeveloper,
      cause: "The request has a key that JPush does not support.", remedy: "Remove the key that the message names."),
    Reason(
      "JPush 1011", .jpush, 400, .never, .appDeveloper,
      cause: "JPush knows no device of this audience, or none was active for 255 days; often the alias was never set, "
        + "or the environment (apns_production) is the other one.",
      remedy: "See on the device's page whether the app set its alias, and for which environment."),
    Reason(
      "JPush 1012", .jpush, 400, .later, .operations,
      cause: "Too many pushes at a fixed speed are under way.", remedy: "Wait until one has ended."),
    Reason(
      "JPush 1020", .jpush, 404, .never, .operations,
      cause: "JPush takes HTTPS only.", remedy: "Set the endpoint to https://."),
    Reason(
      "JPush 1030", .jpush, 503, .later, .nobody,
      cause: "JPush took too long.", remedy: "Nothing: it is tried again later."),
    Reason(
      "JPush 2002", .jpush, 429, .later, .operations,
      cause: "More calls in a minute than the AppKey may make (free: 600).",
      remedy: "Set a speed limit on the push, or address more devices in one call."),
    Reason(
      "JPush 2003", .jpush, 403, .afterCredential, .operations,
      cause: "JPush has blocked the AppKey.", remedy: "Ask JPush's support."),
    Reason(
      "JPush 2004", .jpush, 403, .afterCredential, .operations,
      cause: "This server's address is not in the AppKey's white list.", remedy: "Add it in JPush's console."),
  ]
}
