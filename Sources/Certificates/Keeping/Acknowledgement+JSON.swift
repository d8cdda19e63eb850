package import JSON
import Model
package import Store

extension Acknowledgement: JSONWritable {
  /// The schema `Acknowledgement`.
  package func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("by", by)
      json.member("until", until)
    }
  }
}
