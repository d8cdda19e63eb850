import Calendar
package import Foundation
public import JSON

extension Date: JSONWritable {
  /// RFC 3339 in UTC.
  package func write(to json: inout JSONWriter) {
    json.plainString(limit: Timestamp.longest) { Timestamp.write(self, to: $0) }
  }
}
