/// One request on its way in, and its answer on its way out.
final class ServerStream {
  let id: Int32
  var fields = HeaderList()
  var headerIsTooLong = false
  var body: [UInt8] = []
  var bodyByteCount = 0
  var isAnswered = false
  var answer: [UInt8] = []
  var answerSent = 0

  init(id: Int32) { self.id = id }
}
