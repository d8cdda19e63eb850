public import JSON
import Model
public import Store

extension Acknowledgement: JSONWritable {
  /// The schema `Acknowledgement`.
  public func write(to json: inout JSONWriter) {
    json.object { json in
      json.member("by", by)
      json.member("until", until)
    }
  }
}
