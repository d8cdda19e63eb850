import Foundation
import HTTPServer

/// What a person sent with a form, urlencoded or multipart.
struct Form: Sendable {
  private var fields: [(name: String, value: String)] = []
  private var files: [FormData.Item] = []

  init() {}

  /// Made by hand, for what is not a form but is read like one.
  init(_ fields: [(name: String, value: String)]) { self.fields = fields }

  /// Reads a request's form.
  ///
  /// - Throws: 415 for another content type; 400 and 413 as the readers say.
  init(_ request: Request) async throws {
    if request.mediaType == "multipart/form-data" {
      let data = try await FormData(request)
      for item in data.items where item.part.fileName == nil {
        fields.append((item.part.name, String(decoding: item.bytes, as: UTF8.self)))
      }
      files = data.items.filter { $0.part.fileName?.isEmpty == false }
    } else if request.mediaType != nil || request.header("Content-Length") ?? "0" != "0" {
      fields = try await request.form().pairs.map { ($0.name, $0.value) }
    }
  }

  /// A field without blanks around it; empty if it was not sent.
  subscript(name: String) -> String { raw(name).trimmingCharacters(in: .whitespacesAndNewlines) }

  /// A field as it was sent, with the line ends of this machine.
  func raw(_ name: String) -> String {
    (fields.first { $0.name == name }?.value ?? "").replacing("\r\n", with: "\n")
  }

  /// Every value of a field, as of checkboxes.
  func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

  /// Whether a field was sent, be it empty.
  func has(_ name: String) -> Bool { fields.contains { $0.name == name } }

  /// The file that was chosen, nil if none was.
  func file(_ name: String) -> FormData.Item? { files.first { $0.part.name == name } }

  /// Every field, in its order.
  var all: [(name: String, value: String)] { fields }

  /// Words separated by blanks, commas or line ends.
  func words(_ name: String) -> [String] {
    raw(name).split { ", \n\t，、;".contains($0) }.map(String.init)
  }

  /// Parts separated by commas or line ends, blanks inside kept.
  func parts(_ name: String) -> [String] {
    raw(name).split { ",\n，;".contains($0) }.map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
  }
}
