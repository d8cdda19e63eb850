/// What JPush's own server libraries send if nobody sets more than a text: their defaults, read from their sources.
package struct JPushClientRequest: Sendable, CustomStringConvertible {
  /// Language and version.
  package let description: String
  package let contentType: String
  /// Of a push, and of one that is only checked, below the host.
  package let paths: (push: String, validate: String)
  package let body: String
  /// Whether it says nothing of the environment: production then.
  package let isProduction: Bool

  private init(
    _ description: String, _ body: String, type: String = "application/json",
    paths: (push: String, validate: String) = ("/v3/push", "/v3/push/validate"), isProduction: Bool = false
  ) {
    (self.description, self.body, contentType, self.paths) = (description, body, type, paths)
    self.isProduction = isProduction
  }

  package static let all = [
    JPushClientRequest(
      "Java 3.7.8, alertAll",
      #"{"platform":"all","audience":"all","notification":{"ai_opportunity":false,"alert":"Hi"},"#
        + #""options":{"sendno":1126435467,"apns_production":false}}"#),
    JPushClientRequest(
      "Java 3.7.8, a part for each platform",
      #"{"platform":["android","ios"],"audience":"all","notification":{"ai_opportunity":false,"#
        + #""android":{"alert":"Hi","title":"T","extras":{"k":"v"}},"#
        + #""ios":{"alert":"Hi","extras":{"k":"v"},"badge":"+1","sound":""}},"#
        + #""options":{"sendno":1126435467,"apns_production":false}}"#),
    JPushClientRequest(
      "Java 3.7.8, messageAll",
      #"{"platform":"all","audience":"all","message":{"msg_content":"Hi"},"#
        + #""options":{"sendno":1126435467,"apns_production":false}}"#),
    JPushClientRequest(
      "PHP 3.6",
      #"{"platform":"all","audience":"all","notification":{"alert":"Hi"},"#
        + #""options":{"sendno":1804289383,"apns_production":false}}"#,
      paths: ("/v3/push", "/v3//push/validate")),
    JPushClientRequest(
      "PHP 3.6, a part for each platform",
      #"{"platform":["ios","android"],"audience":"all","notification":{"alert":"Hi","#
        + #""android":{"alert":"Hi"},"ios":{"alert":"Hi","sound":"","badge":"+1"}},"#
        + #""options":{"sendno":1804289383,"apns_production":false}}"#,
      paths: ("/v3/push", "/v3//push/validate")),
    JPushClientRequest(
      "Ruby 4.0",
      #"{"platform":"all","audience":"all","notification":{"alert":"Hi"},"options":{"apns_production":false}}"#,
      paths: ("/v3//push", "/v3//push/validate")),
    JPushClientRequest(
      "Ruby 4.0, a part for each platform",
      #"{"platform":["all"],"audience":"all","notification":{"android":{"alert":"Hi"},"#
        + #""ios":{"alert":"Hi","badge":"+1"}},"options":{"apns_production":false}}"#),
    JPushClientRequest(
      "Python 3.4.1", #"{"platform": "all", "audience": "all", "notification": {"alert": "Hi"}}"#,
      type: "application/json;charset:utf-8", isProduction: true),
    JPushClientRequest(
      "Python 3.4.1, a part for each platform",
      #"{"platform": ["ios", "android"], "audience": "all", "notification": {"alert": "Hi", "#
        + #""ios": {"alert": "Hi", "badge": "+1", "sound": "default"}, "android": {"alert": "Hi"}}}"#,
      type: "application/json;charset:utf-8", isProduction: true),
    JPushClientRequest(
      "Node 3.6",
      #"{"platform":"all","audience":"all","notification":{"alert":"Hi"},"#
        + #""options":{"sendno":386127,"apns_production":false}}"#),
    JPushClientRequest(
      "C# 1.2",
      #"{"platform":"all","audience":"all","notification":{"alert":"Hi","android":{"alert":"Hi"},"#
        + #""ios":{"alert":"Hi","badge":"+1"}},"options":{"apns_production":false}}"#,
      type: "text/plain; charset=utf-8"),
  ]
}
