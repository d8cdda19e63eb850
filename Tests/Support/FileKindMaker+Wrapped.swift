import Foundation

extension FileKindMaker {
  /// Service accounts, keys and .p12 files as they come out of variables, settings files, forms and spreadsheets.
  func wrapped() throws -> [FileKind] {
    try wrappedAccounts() + wrappedKeys()
  }

  /// A service account's members with a key of RSA, and the key.
  private func account() throws -> (members: [String: String], key: String) {
    let rsa = String(decoding: try openssl("pkcs8", "-topk8", "-nocrypt", "-in", "rsa.pem"), as: UTF8.self)
    let members = [
      "type": "service_account", "project_id": "shop-1a2b3", "private_key_id": String(repeating: "ab", count: 20),
      "private_key": rsa, "client_email": "firebase-adminsdk-x@shop-1a2b3.iam.gserviceaccount.com",
      "token_uri": "https://oauth2.googleapis.com/token",
    ]
    return (members, rsa)
  }

  private func wrappedAccounts() throws -> [FileKind] {
    let (members, rsa) = try account()
    func json(_ key: String? = nil) throws -> String {
      var members = members
      members["private_key"] = key ?? rsa
      let data = try JSONSerialization.data(withJSONObject: members, options: [.prettyPrinted, .sortedKeys])
      return String(decoding: data, as: UTF8.self)
    }
    /// As a JSON string.
    func quoted(_ text: String) throws -> String {
      let data = try JSONSerialization.data(
        withJSONObject: text, options: [.fragmentsAllowed, .withoutEscapingSlashes])
      return String(decoding: data, as: UTF8.self)
    }
    let whole = try json()
    let body = rsa.split(separator: "\n").dropFirst().dropLast()
    let (bare, frame) = (body.joined(), ("-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----"))
    let base64 = Data(whole.utf8).base64EncodedString()
    let url = base64.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    let mime = Data(whole.utf8).base64EncodedString(options: [.lineLength76Characters, .endLineWithCarriageReturn])
    let python = whole.replacing("\"", with: "'").replacing("\\/", with: "/")
    let percent = whole.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["-", "_", "."])) ?? ""
    var truth = FileKind.Truth("fcm_service_account")
    truth.environments = []
    func kind(_ name: String, _ data: Data, _ outcome: FileKind.Outcome? = nil) -> FileKind {
      self.kind(
        "service account, \(name)", data, "account.json", outcome ?? .read(truth), more: secrets(rsa) + [bare])
    }
    func text(_ name: String, _ text: String, _ outcome: FileKind.Outcome? = nil) -> FileKind {
      kind(name, Data(text.utf8), outcome)
    }
    return [
      text("real breaks in its key", whole.replacing("\\n", with: "\n")),
      text("real breaks of Windows in its key", whole.replacing("\\n", with: "\r\n")),
      text("its key without any break", try json(frame.0 + bare + frame.1)),
      text("blanks for the breaks in its key", try json(rsa.replacing("\n", with: " "))),
      text("escaped breaks in its key", try json(rsa.replacing("\n", with: "\\n"))),
      text("breaks in its key that were escaped twice", try json(rsa.replacing("\n", with: "\\\\n"))),
      text("escaped breaks of Windows in its key", try json(rsa.replacing("\n", with: "\\r\\n"))),
      text("its key in quotes", try json("\"\(rsa.replacing("\n", with: "\\n"))\"")),
      text("its key without first and last line", try json(body.joined(separator: "\n"))),
      text("its key as Base64 of the PEM text", try json(Data(rsa.utf8).base64EncodedString())),
      text("in single quotes", "'\(whole)'\n"),
      text("in double quotes", "\"\(whole)\""),
      text("in typographic quotes", "“\(whole)”"),
      text("as a variable", "GOOGLE_APPLICATION_CREDENTIALS_JSON='\(whole)'\n"),
      text("as a constant of a script", "const account = \(whole);\n"),
      text("in a code block", "```json\n\(whole)\n```\n"),
      text("in YAML", "stringData:\n  key.json: |\n    \(whole.replacing("\n", with: "\n    "))\n"),
      text("as a JSON string", try quoted(whole)),
      text("as a JSON string in a JSON string", try quoted(quoted(whole))),
      text("with escaped quotes", whole.replacing("\"", with: "\\\"")),
      text("as a cell of CSV", "\"\(whole.replacing("\"", with: "\"\""))\""),
      text("as a member of settings", "{\"name\": \"shop\", \"firebase\": \(whole)}"),
      text("as a text in settings", "{\"name\": \"shop\", \"FIREBASE\": \(try quoted(whole))}"),
      text("as Base64 in settings", "{\"name\": \"shop\", \"FIREBASE\": \"\(base64)\"}"),
      text("in a list", "[\(whole)]"),
      text("Base64", base64 + "\n"),
      text("Base64 in lines", mime),
      text("Base64 for URLs", url),
      text("Base64 in quotes", "\"\(base64)\""),
      text("Base64 as a variable", "export FIREBASE_KEY=\(base64)\n"),
      text("Base64 as a URL", "data:application/json;base64,\(base64)"),
      text("Base64 twice", Data(base64.utf8).base64EncodedString()),
      text("Base64 of a JSON string", Data(try quoted(whole).utf8).base64EncodedString()),
      kind("Base64 of UTF-16", Data(utf16(whole).base64EncodedString().utf8)),
      text("percent-encoded", percent),
      text("with typographic quotation marks", whole.replacing("\"", with: "”")),
      text("as Python prints it", python),
      text("with a comma after its last member", whole.replacing("\n}", with: ",\n}")),
      kind("UTF-16", utf16(whole)), kind("with a byte order mark", Data([0xEF, 0xBB, 0xBF]) + Data(whole.utf8)),
      kind("UTF-16, real breaks in its key", utf16(whole.replacing("\\n", with: "\r\n"))),
      text("in quotes, cut", "'" + whole.dropLast(300), .refused("json_damaged")),
      text("without its first brace", String(whole.dropFirst()), .refused("json_damaged")),
      text(
        "its key without any break, cut", try json(String((frame.0 + bare).prefix(900))),
        .refused("service_account.key_cut")),
      text("its key alone", rsa, .refused("no_certificate")),
    ]
  }

  private func wrappedKeys() throws -> [FileKind] {
    let p8 = self.key
    let body = p8.split(separator: "\n").dropFirst().dropLast()
    let escaped = p8.replacing("\n", with: "\\n")
    let pem = try certificate()
    let p12 = try p12(pem, password: "x").base64EncodedString()
    let apns = FileKind.Outcome.read(
      FileKind.Truth("apns_key").changed {
        $0.types = [
          "alert", "background", "voip", "complication", "fileprovider", "location", "liveactivity", "pushtotalk",
          "controls", "widgets",
        ]
      })
    func key(_ name: String, _ text: String) -> FileKind {
      kind("p8, \(name)", Data(text.utf8), "AuthKey_ABCDE12345.p8", apns)
    }
    func both(_ name: String, _ text: String) -> FileKind {
      kind("p12, \(name)", Data(text.utf8), "push.p12", Self.push(), password: "x")
    }
    return [
      key("in quotes", "'\(p8)'"), key("a JSON string", "\"\(escaped)\""),
      key("breaks escaped twice", "\"\(escaped.replacing("\\n", with: "\\\\n"))\""),
      key("slashes escaped, as PHP does", "\"\(escaped.replacing("/", with: "\\/"))\""),
      key("equals signs escaped, as Gson does", "\"\(escaped.replacing("=", with: "\\u003d"))\""),
      key("a variable", "APNS_KEY=\"\(escaped)\"\n"),
      key("Base64 in quotes", "\"\(Data(p8.utf8).base64EncodedString())\""),
      key("Base64 as a variable", "APNS_KEY=\(Data(p8.utf8).base64EncodedString())"),
      key("its Base64 without frame, in quotes", "'\(body.joined())'"),
      key("its Base64 without frame, escaped breaks", "\"\(body.joined(separator: "\\n"))\""),
      key("percent-encoded", p8.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(["-"])) ?? ""),
      key("of a form", p8.replacing("+", with: "%2B").replacing(" ", with: "+").replacing("\n", with: "%0A")),
      both("Base64 in quotes", "\"\(p12)\""), both("Base64 as a variable", "PUSH_P12=\(p12)\n"),
      both("Base64 as a URL", "data:application/x-pkcs12;base64,\(p12)"),
      both("Base64 for URLs", p12.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")),
    ]
  }

  /// Little-endian, with a byte order mark, as Windows saves it.
  private func utf16(_ text: String) -> Data {
    Data([0xFF, 0xFE]) + Data(text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] })
  }
}

extension FileKind.Truth {
  fileprivate func changed(_ change: (inout Self) -> Void) -> Self {
    var truth = self
    change(&truth)
    return truth
  }
}
