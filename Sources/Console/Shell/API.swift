import HTTPServer
import Model
import Store

/// The JSON API of `Public/api/openapi.json`; tests compare the two.
enum API {
  static func add(to routes: inout ConsoleRouter) {
    AppsAPI.add(to: &routes)
    PageRulePages.addCalls(to: &routes)
    CredentialsAPI.add(to: &routes)
    JPushKeyAPI.add(to: &routes)
    ClientKeyAPI.add(to: &routes)
    DevicesAPI.add(to: &routes)
    DeviceBatchAPI.add(to: &routes)
    DeviceImportAPI.add(to: &routes)
    AudienceAPI.add(to: &routes)
    ChannelsAPI.add(to: &routes)
    TopicsAPI.add(to: &routes)
    TopicChangesAPI.add(to: &routes)
    JPushRemoteAPI.add(to: &routes)
    SegmentsAPI.add(to: &routes)
    PushesAPI.add(to: &routes)
    DialectPages.addCalls(to: &routes)
    IncidentsAPI.add(to: &routes)
    SchedulesAPI.add(to: &routes)
    SmokeTestsAPI.add(to: &routes)
    TemplatesAPI.add(to: &routes)
    CertificatesAPI.add(to: &routes)
    RetentionAPI.add(to: &routes)
    RenewalAPI.add(to: &routes)
    SigningRequestsAPI.add(to: &routes)
    AcknowledgementAPI.add(to: &routes)
    ReceiversAPI.add(to: &routes)
    WebhooksAPI.add(to: &routes)
    PeopleAPI.add(to: &routes)
    MailSettingsAPI.add(to: &routes)
    OIDCSettingsAPI.add(to: &routes)
    SecondStepRoutes.addCalls(to: &routes)
    ReminderSettingsAPI.add(to: &routes)
    RemindersAPI.add(to: &routes)
    HostsAPI.add(to: &routes)
    ActivityAPI.add(to: &routes)
    TokensAPI.add(to: &routes)
    SimulatorAPI.add(to: &routes)
  }
}

extension ConsoleRouter {
  /// Adds a call. Without a reach, it is about the app in its path, else about the whole installation.
  ///
  /// Query parameters that are unknown or repeated are refused before the handler is called: a misspelled
  /// filter must not return everything.
  mutating func call(
    _ method: Method, _ pattern: String, role: User.Role, scope: CallScope, reach: CallReach? = nil,
    query names: [String] = [], takesBody: Bool = true, options: Route.Options = Route.Options(),
    under prefix: String = "/api/v1",
    _ handler: @escaping APIHandler
  ) {
    let reach = reach ?? (pattern.contains("/:app") ? .path : .installation)
    var options = options
    options.mayWait = names.contains("wait")
    api(method, prefix + pattern, CallAccess(role: role, scope: scope, reach: reach), options: options) { call in
      try await APIError.telling {
        try APIQuery.check(call.request.queryItems, names: names)
        if !takesBody { try await call.refuseFields() }
        return try await handler(call)
      }
    }
  }

  /// Adds a list that is read in pages.
  mutating func list(
    _ pattern: String, role: User.Role = .viewer, scope: CallScope = .read, reach: CallReach? = nil,
    filters: [String] = [], _ handler: @escaping APIHandler
  ) {
    call(.get, pattern, role: role, scope: scope, reach: reach, query: ["limit", "cursor"] + filters, handler)
  }
}
