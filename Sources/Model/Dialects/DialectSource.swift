import Foundation
import JSON

/// A pasted text before it is read: its JSON, the command around it, and the dialect.
struct DialectSource: Sendable {
  let dialect: Dialect
  let command: CurlCommand?
  var json: JSONValue
  /// Why a command has no JSON; what its address and headers say counts all the same.
  let unread: Problem?

  /// - Throws: why the text is no push.
  init(_ text: String) throws(Problem) {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    if CurlCommand.isRequest(text) {
      command = CurlCommand(request: text)
    } else {
      command = try CurlCommand.isCommand(text[...]) ? CurlCommand(text) : nil
    }
    guard command != nil || text.hasPrefix("{") else { throw Problem("", DialectMessage.unknown) }
    (json, unread) = Self.json(command, text)
    guard let dialect = Self.dialect(of: json, path: command?.path) else {
      throw unread ?? Problem("", DialectMessage.unknown)
    }
    self.dialect = dialect
  }

  private static func json(_ command: CurlCommand?, _ text: String) -> (JSONValue, Problem?) {
    if let unread = command?.unread { return ([:], unread) }
    do throws(Problem) {
      return (try JSONValue(checking: Array((command?.body ?? text).utf8)), nil)
    } catch {
      return ([:], error)
    }
  }

  /// By the address where there is one, else by members that only one dialect has.
  private static func dialect(of json: JSONValue, path: Substring?) -> Dialect? {
    guard json.object != nil else { return nil }
    let path = path ?? ""
    if path.hasPrefix("/3/device") { return .apns }
    if path.hasSuffix("messages:send") { return .fcm }
    if path.hasSuffix("/fcm/send") || path.hasSuffix("/gcm/send") { return .legacy }
    if path.hasSuffix("/api/v1/pushes") { return .signalbox }
    if path.hasPrefix("/v3/push") { return .jpush }
    if json[Dialect.bundleKey] != nil { return .simulator }
    if json["platform"] != nil { return .jpush }
    if json["aps"] != nil || json["mdm"] != nil { return .apns }
    if ["to", "registration_ids", "condition"].contains(where: { json[$0] != nil }) { return .legacy }
    if let message = json["message"]?.object, json["msg_content"] == nil, json["audience"] == nil {
      return message.isEmpty ? nil : .fcm
    }
    return json["notification"] != nil || json["app"] != nil || json["apns"] != nil ? .signalbox : nil
  }
}

extension Problems {
  /// More than a person reads.
  private static let limit = 100

  /// The JSON without the members that these problems name, which are added to `left`.
  ///
  /// An audience goes as a whole: without one of its parts, others would get the push.
  ///
  /// - Throws: these problems and those in `left`, if the JSON has no such member.
  func without(_ json: JSONValue, _ left: inout [Problem]) throws(Problems) -> JSONValue {
    left += all
    let paths = all.map { Self.steps($0.field) }.map { $0.first == "audience" ? ["audience"] : $0 }
    guard left.count <= Self.limit, let rest = json.without(paths.map { json.deepest($0) }), rest != json else {
      throw Problems(left)
    }
    return rest
  }

  /// `a.b[3]["x y"]` as its names and numbers.
  private static func steps(_ field: String) -> [String] {
    field.split { ".[]".contains($0) }.map { $0.trimmingCharacters(in: ["\""]) }
  }
}

extension JSONValue {
  private func member(_ step: String) -> JSONValue? {
    if let members = object { return members[step] }
    guard let elements = array, let index = Int(step), elements.indices.contains(index) else { return nil }
    return elements[index]
  }

  /// The part of a path that exists.
  fileprivate func deepest(_ path: [String]) -> [String] {
    guard let step = path.first, let next = member(step) else { return [] }
    return [step] + next.deepest(Array(path.dropFirst()))
  }

  /// Without what the paths lead to, and what is empty then; nil: without itself.
  fileprivate func without(_ paths: [[String]]) -> JSONValue? {
    func rest(_ step: String, _ value: JSONValue) -> JSONValue? {
      let inner = paths.filter { $0.first == step }.map { Array($0.dropFirst()) }
      if inner.isEmpty { return value }
      return inner.contains([]) ? nil : value.without(inner)
    }
    if let members = object {
      let left = members.reduce(into: [String: JSONValue]()) { $0[$1.key] = rest($1.key, $1.value) }
      return left.isEmpty && !members.isEmpty ? nil : .object(left)
    }
    guard let elements = array else { return self }
    let left = elements.enumerated().compactMap { rest("\($0.offset)", $0.element) }
    return left.isEmpty && !elements.isEmpty ? nil : .array(left)
  }
}

extension PushDraft {
  /// Whether it says nothing but who gets it.
  var isBlank: Bool {
    notification == Notification() && apns == APNsOverrides() && android.isEmpty && options == Options()
      && sendAt == nil && recurrence == nil
  }
}
