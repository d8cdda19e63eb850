import Calendar
import Certificates
import Delivery
import Foundation
import JSON
import Mail
import Model
import SQLite
import Simulator
import Store
import Testing

@testable import Console

/// The table of texts against the sources and templates that use it: nothing is missing, nothing is left over.
@Suite("Locales: every text is there, and is used")
struct LocaleTests {
  private static let root = ConsoleScene.root

  private static func files(_ folder: String, _ ending: String) throws -> [String: String] {
    let base = root.appendingPathComponent(folder)
    var texts: [String: String] = [:]
    for case let name as String in try #require(FileManager.default.enumerator(atPath: base.path))
    where name.hasSuffix(ending) {
      texts[name] = try String(contentsOf: base.appendingPathComponent(name), encoding: .utf8)
    }
    return texts
  }

  private static func english() throws -> Texts {
    let data = try Data(contentsOf: root.appendingPathComponent("Templates/locales/en.json"))
    return Texts(code: "en", table: try JSONValue(parsing: data))
  }

  /// Keys that templates write out.
  private static func templateKeys() throws -> [String: String] {
    var keys: [String: String] = [:]
    // Mails have tables of their own.
    for (name, text) in try files("Templates", ".mustache") where !name.hasPrefix("mail/") {
      for match in text.matches(of: /\{\{[#^\/&]?\s*t\.([a-zA-Z0-9_.]+)/) { keys[String(match.1)] = name }
    }
    return keys
  }

  /// Keys that the sources write out: with a text for a number, and all.
  private static func sourceKeys() throws -> (plain: [String: String], literals: Set<String>) {
    var plain: [String: String] = [:]
    var literals: Set<String> = []
    for (name, text) in try files("Sources/Console", ".swift") {
      for match in text.matches(of: /texts\(\s*"([a-zA-Z0-9_.]+[a-zA-Z0-9_])"/) { plain[String(match.1)] = name }
      for match in text.matches(of: /"([a-z0-9_]+(?:\.[a-zA-Z0-9_]+)+)"/) { literals.insert(String(match.1)) }
    }
    return (plain, literals)
  }

  /// Keys that the sources put together, by the lists that they are put together from.
  private static func madeKeys() throws -> Set<String> {
    var keys: Set<String> = []
    func add(_ prefix: String, _ names: some Sequence<String>, _ suffix: String = "") {
      for name in names { keys.insert(prefix + name + suffix) }
    }
    let environments = Environment.allCases.map(\.rawValue)
    let outcomes = OutcomeKind.allCases.map(\.name)
    for origin in ["push", "incident"] { add("move.\(origin).", ["again", "back", "nobody", "reversible"]) }
    let roles = User.Role.allCases.map(\.rawValue)
    add("words.", PushState.allCases.map(\.rawValue) + outcomes + environments + ["pending", "waiting"])
    add("outcome.", outcomes)
    add("roles.", roles)
    add("account.roles.", roles)
    add("people.states.", User.State.allCases.map(\.rawValue))
    add("people.required_of.", SecondStepRule.Reach.allCases.map(\.rawValue))
    add("passkeys.refused.", PasskeyCeremony.Refusal.allCases.map(\.rawValue))
    add("receipts.", ["target", "accepted"] + ReceiptKind.allCases.map(\.name))
    add("delivery.steps.", ReceiptKind.allCases.map(\.name))
    add("account.", ["name", "role", "since"])
    add("tokens.scopes.", TokenScope.allCases.map(\.rawValue))
    add("tokens.reach.", ["all", "some"])
    add("oidc_settings.admissions.", OIDCSettings.Admission.allCases.map(\.rawValue))
    add("tokens.states.", APIToken.State.allCases.map(\.rawValue))
    add("platform.", Platform.allCases.map(\.rawValue))
    add("source.", ["web", "api", "cli", "jpush", "legacy", "schedule", "smoke"])
    add("push_type.", PushType.allCases.map(\.rawValue))
    add("callbacks.by_", PushType.Receiver.allCases.map(\.rawValue))
    add("when.", RepeatRule.Weekday.allCases.map(\.rawValue) + ["now", "at", "repeat"])
    add("when.", ["every_day", "every_week", "every_month", "speed_fast", "speed_rate", "speed_spread"])
    add("approval.", Approval.Decision.allCases.map(\.rawValue))
    add("attention.", ["approval.one", "approval.other", "approval_schedule.one", "approval_schedule.other"])
    add("schedules.", ScheduleState.allCases.map(\.rawValue))
    add("phones.", ["payload", "headers", "callbacks"])
    add("severity.", Lint.Severity.allCases.map(\.rawValue))
    add("dialects.", Dialect.written.map(\.rawValue))
    add("actor.", Reason.Actor.allCases.map(\.rawValue))
    add("state.", DeviceState.allCases.map(\.name))
    add("state.", DeviceState.allCases.map { "\($0)" })
    add("attention.", ["renew", "show"])
    add("overview.sum.", ["accepted", "failed", "dead", "opened"])
    for form in [".one", ".other"] { add("audiences.count_", ["segments", "tags", "aliases"], form) }
    let kinds = ["tag", "tag_and", "tag_not", "alias", "registration_id", "device_token", "segment"]
    add("audience.", kinds)
    add("audience.", kinds, "_count.other")
    add("audience.kind.", ["device_token", "alias", "registration_id", "tag", "segment", "all"])
    add("audience.kind.", ["channel", "topic", "condition"])
    let counted: [AudienceStep.Kind] = [.seenWithin, .seenOver]
    add("segments.step.", AudienceStep.Kind.allCases.filter { !counted.contains($0) }.map(\.rawValue))
    for form in [".one", ".other"] { add("segments.step.", counted.map(\.rawValue), form) }
    add("segments.last_seen_", ["any", "within_days", "over_days"])
    for subscribers in ["channel", "topic"] {
      add("send.", [subscribers + "_subscribers"])
      add("confirm.", ["send_" + subscribers, "schedule_" + subscribers])
      add("push.", ["_accepted", "_failed"].map { subscribers + $0 })
    }
    let batches = DeviceBatchAction.allCases.filter { $0 != .merge }.map(\.rawValue)
    for form in [".one", ".other"] { add("flash.devices_done.", batches, form) }
    add("activity.values.", ["code", "confirm", "first_start", "invitation", "passkey", "password", "reset"])
    add("certificates.formats.", ["p12", "pem", "der", "mobileprovision", "json", "text"])
    add("activity.values.", ["too_many_attempts", "too_many_wrong_secrets", "wrong_key_pair"])
    add("activity.values.", ["claim_left_out", "csrf", "leaving", "own_approval", "production", "role", "wrong_key"])
    add("flash.jpush_", ["schedule", "tag", "alias"], "_removed")
    add("confirm.service_", PushValidation.Answer.allCases.map(\.rawValue))
    add("topics.state_", TopicChange.State.allCases.map(\.name))
    add("topics.rule_", TopicRule.allCases.map(\.rawValue))
    add("channels.storage_", ChannelPolicy.Word.allCases.map(\.rawValue))
    add(
      "details.",
      [
        "id", "app", "audience", "platforms", "source", "created", "started", "finished", "ttl", "collapse_id",
        "device",
        "name", "alias", "registration_id", "tags", "registered", "device_environment", "device_state", "apns_id",
        "credential", "created_device", "seen", "bundle_id", "package_name", "alias_rule", "added",
      ])
    add("callbacks.", CallbackTable.State.allCases.map(\.rawValue))
    add("callbacks.", CallbackTable.Call.Condition.allCases.map(\.rawValue))
    add("callbacks.banner_", CallbackTable.Banner.allCases.map(\.rawValue))
    add("callbacks.", ["note"])
    add("callbacks.setting_", CallbackTable.Rule.Setting.allCases.map(\.rawValue))
    add("caught.outcome_", CaughtRequest.Outcome.allCases.map(\.rawValue))
    add("callbacks.methods.", CallbackTable.Method.allCases.map(\.rawValue))
    add("callbacks.icon_", CallbackTable.IconTap.allCases.map(\.rawValue))
    let appStates = SimulatedPhone.AppState.allCases.map(\.rawValue)
    add("phones.", appStates + ["on", "off", "uninstall", "reinstall", "doze", "wake", "on_arrival", "on_tap"])
    add("phones.", ["channel_off", "channel_on"])
    add("phones.notifications_", SimulatedPhone.Notifications.allCases.map(\.rawValue))
    add("pages.default_pages.", PageRules.defaults.rules.map(\.type))
    add("phones.kind_", Platform.allCases.map(\.rawValue))
    add("phones.state_", appStates + ["off", "dozing", "uninstalled"])
    add("phones.fault_", FaultChoice.Kind.allCases.map(\.rawValue))
    add("devices.events.", DeviceEvent.Kind.allCases.map(\.rawValue) + ["added", "removed"])
    let actions = DeviceBatchAction.allCases.map(\.rawValue)
    add("devices.batch.actions.", actions)
    add("devices.batch.means.", actions)
    add("apps.alias_rule_", AliasRule.allCases.map(\.rawValue))
    add("apps.endpoint_", ["apple", "google", "jpush", "simulator", "host"])
    for suffix in ["", "_google", "_jpush", "_simulator"] {
      add("apps.", ["accepted", "refused"].map { $0 + suffix })
    }
    for suffix in ["", "_fcm", "_jpush"] {
      add("apps.", ["bind_first", "certificate", "certificate_hint"].map { $0 + suffix })
    }
    add("apps.", ["unused"])
    add("retention.", RetentionPolicy.fields.map(\.name))
    add("retention.", RetentionPolicy.fields.map(\.name), "_hint")
    for number in ["one", "other"] { add("retention.rows.", Trim.Kind.allCases.map(\.rawValue), ".\(number)") }
    add("band.", Expiry.Band.allCases.map(\.rawValue))
    let channels = Receiver.Channel.allCases.map(\.rawValue)
    add("settings.channels.", channels)
    add("settings.address_hint.", channels)
    add("settings.security.", SMTPServer.Security.allCases.map(\.rawValue))
    add("settings.failures.", MailError.Code.allCases.map(\.rawValue))
    add("settings.checks.", CheckRun.Source.allCases.map(\.rawValue))
    let sections = SettingsPages.sections.map(\.name)
    add("settings.sections.", sections + sections.map { $0 + "_text" })
    add("webhooks.events.", Webhook.Event.allCases.map { $0.rawValue.replacing(".", with: "_") })
    add("webhooks.states.", WebhookDelivery.State.allCases.map(\.rawValue))
    add("reminders.states.", ReminderMessage.State.allCases.map(\.rawValue))
    add("attention.late_", CheckRun.Source.allCases.map(\.rawValue))
    add("hosts.protocols.", HostAddress.StartProtocol.allCases.map(\.rawValue))
    add("hosts.events.", HostEvent.Kind.allCases.map(\.rawValue))
    add(
      "hosts.details.",
      [
        "address", "protocol", "server_name", "probed", "answered", "failing_since", "reached", "not_before",
        "not_after", "names", "subject", "issuer", "serial", "sha256", "added", "added_by", "note",
      ])
    add("certificates.kinds.", CertificateKind.allCases.map(\.rawValue))
    add(
      "certificates.",
      [
        "kind", "team", "key_id", "app_id", "distribution", "devices", "subject", "issuer", "serial", "sha256",
        "format",
        "environments", "not_before", "not_after", "private_key", "key_matches", "key_missing", "file_name",
        "uploaded_by", "uploaded_at", "made_by", "note_text", "push_types", "team_name", "app_key", "project",
        "client_email", "platforms", "uuid", "entitlements", "signers", "sha1", "key", "signature", "encryption",
        "others", "secret_there", "key_signs", "key_there",
      ])
    add("certificates.", ["password_again", "take_again"])
    add("renewal.level_", RenewalFinding.Level.allCases.map(\.rawValue))
    add("renewal.trial_", ["taken", "refused", "undecided"])
    add("requests.", SigningRequest.Algorithm.allCases.map(\.rawValue))
    add("requests.for_", SigningRequest.Purpose.allCases.map(\.rawValue))
    add("devices.did.", ["added", "updated", "rejected"])
    add("reminders.", ["next", "next_now", "over", "over_now"])
    for plan in RenewalGuide.plans.values {
      add("guide.", [plan.title, plan.lead, "has_expired", "compared"] + plan.steps.flatMap { [$0.text, $0.detail] })
    }
    let states = IncidentState.allCases.map(\.rawValue)
    add("incidents.states.", states)
    add("incidents.empty.", states)
    for part in ["ends", "healed"] {
      add("incidents.\(part).", IncidentKind.allCases.map(\.rawValue) + ["no_credential"])
    }
    add("incidents.now.", ["parked", "dead"])
    add(
      "incidents.did.",
      ["open", "return", "heal", "assign", "unassign", "snooze", "close", "reopen", "move", "move_back"])
    add("smoketests.states.", SmokeRunState.allCases.map(\.rawValue) + ["never"])
    add("smoketests.heading_", SmokeRunState.allCases.map(\.rawValue) + ["never"])
    add("smoketests.errors.", SmokeRunError.allCases.map(\.rawValue))
    add(
      "smoketests.answers.",
      [
        SmokeDifference.notReached, SmokeDifference.displayed, SmokeDifference.notDisplayed,
        SmokeDifference.displayedLate,
      ])
    add(
      "search.kinds.",
      [
        "pushes", "schedules", "templates", "smoketests", "devices", "segments", "tags", "apps", "certificates",
        "people", "reasons", "pages",
      ])
    for group in WordsPage.groups { add("glossary.\(group.name).", ["title", "lead"] + group.words.map(\.code)) }
    add("codes.retry.", Reason.Retry.allCases.map(\.rawValue))
    add("codes.becomes.", ["retired", "parked", "kept"])
    add("activity.kinds.", ActivityKind.allCases.map(\.rawValue))
    add("activity.from.", ActivityActor.Source.allCases.map(\.rawValue))
    return keys.union(try errorKeys()).union(try flashKeys())
  }

  /// The groups of errors that are thrown somewhere, each whole.
  private static func errorKeys() throws -> Set<String> {
    var codes: Set<String> = ["busy", "slow", "disk", "not_found", "too_large", "failed", "refused"]
    for text in try files("Sources/Console", ".swift").values {
      for match in text.matches(of: /PageError\(\s*\.[a-zA-Z]+,\s*"([a-z_]+)"/) { codes.insert(String(match.1)) }
      for match in text.matches(of: /PageError\.notFound\("([a-z_]+)"/) { codes.insert("missing_\(match.1)") }
    }
    return Set(codes.flatMap { code in ["title", "happened", "kept", "next"].map { "errors.\(code).\($0)" } })
  }

  private static func flashKeys() throws -> Set<String> {
    var keys: Set<String> = []
    for text in try files("Sources/Console", ".swift").values {
      for line in text.split(separator: "\n") {
        guard let place = line.firstRange(of: "flash: ") else { continue }
        for match in line[place.upperBound...].matches(of: /"([a-z_]+)"/) { keys.insert("flash.\(match.1)") }
      }
    }
    return keys
  }

  @Test("every key of a template is in the table")
  func templates() throws {
    let texts = try Self.english()
    let keys = try Self.templateKeys()
    #expect(keys.count > 300)
    for (key, file) in keys {
      #expect(texts.known(key) != nil || texts.known(key + ".other") != nil, "\(key) in \(file)")
    }
  }

  @Test("every key of the sources is in the table, written out or put together")
  func sources() throws {
    let texts = try Self.english()
    let keys = try Self.sourceKeys().plain
    #expect(keys.count > 80)
    for (key, file) in keys {
      #expect(texts.known(key) != nil || texts.known(key + ".other") != nil, "\(key) in \(file)")
    }
    for key in try Self.madeKeys() { #expect(texts.known(key) != nil, "\(key)") }
  }

  @Test("nothing in the table is left over")
  func unused() throws {
    let made = try Self.madeKeys()
    let written = try Self.sourceKeys().literals.union(try Self.templateKeys().keys)
    let unused = try Self.english().keys.filter { key in
      let stem =
        key.hasSuffix(".one") ? String(key.dropLast(4)) : key.hasSuffix(".other") ? String(key.dropLast(6)) : key
      return !made.contains(key) && !written.contains(key) && !written.contains(stem)
        && key != "layout.own_name" && !key.hasPrefix("messages.")
        // ActivityPageTests holds them against the actions.
        && !key.hasPrefix("activity.did.") && !key.hasPrefix("activity.fields.")
    }
    #expect(unused.sorted() == [])
  }

  @Test("what has a form for one has a form for others, and only others count")
  func plurals() throws {
    let texts = try Self.english()
    for key in texts.keys where key.hasSuffix(".one") {
      #expect(texts.known(String(key.dropLast(4)) + ".other") != nil, "\(key)")
    }
    for key in texts.keys where key.hasSuffix(".other") {
      #expect(texts.known(key)?.contains("{count}") == true, "\(key)")
    }
  }

  @Test("no text has markup, a brace too many, or the letters that keyboards put for others")
  func tidy() throws {
    let texts = try Self.english()
    for key in texts.keys {
      let text = try #require(texts.known(key))
      #expect(!text.contains("<") && !text.contains("&amp;"), "\(key)")
      #expect(text.filter { $0 == "{" }.count == text.filter { $0 == "}" }.count, "\(key)")
      #expect(!text.contains("..."), "\(key)")
      #expect(
        text == text.trimmingCharacters(in: .whitespaces) || key == "audience.and" || key.hasPrefix("between."),
        "\(key)")
    }
  }
}
