import Foundation
import JSON
import Testing

@testable import Model

@Suite("Templates: places and values")
struct MessageTemplateTests {
  private static let json: JSONValue = [
    "notification": [
      "title": "Order {{order}} has shipped", "body": "{{ day }}, {{day}}", "badge": "{{count}}",
      "extras": ["id": "{{order}}", "list": ["{{order}}", 7]],
    ]
  ]

  @Test("every place is filled in; a text that is one place takes a number as it is; values are not read again")
  func filled() throws {
    let template = try MessageTemplate(json: Self.json)
    #expect(template.places == ["count", "day", "order"])
    let filled = try template.filled(["order": "{{day}}", "day": "Tuesday", "count": 3])
    #expect(
      filled["notification"] == [
        "title": "Order {{day}} has shipped", "body": "Tuesday, Tuesday", "badge": 3,
        "extras": ["id": "{{day}}", "list": ["{{day}}", 7]],
      ])
    #expect(try MessageTemplate(json: template.json) == template)
  }

  @Test("a missing and an unknown place are named, with the nearest one")
  func refused() throws {
    let template = try MessageTemplate(json: Self.json)
    for (values, expected) in [
      ([:], ["values.count template.missing", "values.day template.missing", "values.order template.missing"]),
      (
        ["order": 1, "dya": "x", "count": 1], ["values.day template.missing", "values.dya template.unknown_similar"]
      ),
      (["order": 1, "day": "x", "count": 1, "fox": 1], ["values.fox template.unknown"]),
      (["order": [], "day": "x", "count": 1], ["values.order template.value"]),
    ] as [([String: JSONValue], [String])] {
      do {
        _ = try template.filled(values)
        Issue.record("\(values) was taken")
      } catch {
        #expect(error.all.map { "\($0.field) \($0.code)" } == expected)
      }
    }
  }

  @Test("what is no message, and what is no place, is refused when it is saved")
  func saved() {
    for (json, code) in [
      (["app": "com.example.app"], "app field.unknown"),
      (["notification": ["boddy": "x"]], "notification.boddy field.unknown_similar"),
      (["notification": ["a b": "x"]], "notification[\"a b\"] field.unknown"),
      (["notification": ["body": "{{a b}}"]], " template.place"),
      (["notification": "x"], "notification field.expected"), ([:], "notification notification.missing"),
      ([], " field.expected"),
    ] as [(JSONValue, String)] {
      do {
        _ = try MessageTemplate(json: json)
        Issue.record("\(json) was taken")
      } catch {
        #expect(error.all.contains { "\($0.field) \($0.code)" == code }, "\(json): \(error)")
      }
    }
  }
}
