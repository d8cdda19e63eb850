/// What is wrong with a URL that somebody entered as a target.
package enum WebAddressMessage: String, MessageSet {
  case length = "web.length"
  case blank = "web.blank"
  case user = "web.user"
  case fragment = "web.fragment"
  case port = "web.port"
  case letters = "web.letters"

  package var english: String {
    switch self {
    case .length: "The URL must have at most 2048 bytes."
    case .blank: "The URL contains a blank or an invisible character. Remove it, or write a blank as %20."
    case .user:
      "A URL with a username and password is not supported. Remove the part before @; use a URL with a secret in its "
        + "path, or check the signature of the messages."
    case .fragment: "The part after # never reaches a server. Remove it."
    case .port: "The port must be a number from 1 to 65535."
    case .letters: "Write the URL in ASCII: {url}"
    }
  }
}
