import Foundation
package import JSON
package import OpenSSL
import Model

/// A service account of Google's, as its JSON file tells it (Google Cloud, “Create and delete service account keys”).
package struct ServiceAccount: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// As `shop-1a2b3`.
  package let projectID: String
  /// As `firebase-adminsdk-x@shop-1a2b3.iam.gserviceaccount.com`.
  package let clientEmail: String
  /// 40 hexadecimal digits.
  package let privateKeyID: String
  /// Where its tokens come from.
  package let tokenURI: String
  /// RSA. A secret.
  package let key: PrivateKey

  /// Where Google gives out tokens, unless the file says otherwise.
  package static let googleTokenURI = "https://oauth2.googleapis.com/token"
  /// Google makes keys of 2048 bits.
  static let keyBits = 2048...8192

  /// Reads the members of the file.
  ///
  /// - Throws: ``FileProblem/serviceAccount(_:)``.
  package init(json: JSONValue) throws(FileProblem) {
    func text(_ name: String) throws(FileProblem) -> String {
      guard let text = json[name]?.string?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else {
        throw .serviceAccount(.missing(name))
      }
      return text
    }
    projectID = try text("project_id")
    clientEmail = try text("client_email")
    privateKeyID = try text("private_key_id")
    guard clientEmail.contains("@"), clientEmail.utf8.count <= 320 else {
      throw .serviceAccount(.missing("client_email"))
    }
    tokenURI = json["token_uri"]?.string ?? Self.googleTokenURI
    guard tokenURI.hasPrefix("https://"), URL(string: tokenURI)?.host != nil else { throw .serviceAccount(.tokenURI) }
    // Through a variable or another JSON the line ends become “\n”, two characters.
    let pem = try text("private_key").replacing("\\n", with: "\n")
    do { key = try PrivateKey(pem: pem) } catch {
      throw error == .truncated ? .serviceAccount(.keyCut) : .serviceAccount(.keyUnreadable)
    }
    guard case .rsa(let bits) = key.algorithm, Self.keyBits.contains(bits) else {
      throw .serviceAccount(.keyKind(key.algorithm.description))
    }
    // A key whose parts do not fit each other is read, and signs nonsense.
    let message = Data("signalbox".utf8)
    guard let signature = try? key.signRS256(message), key.publicKey.verifiesRS256(signature, of: message) else {
      throw .serviceAccount(.keyDoesNotSign)
    }
  }

  /// Reads what was sealed; see ``material``.
  ///
  /// - Throws: ``FileProblem``.
  package init(material: [UInt8]) throws(FileProblem) {
    let json: JSONValue
    do { json = try JSONValue(parsing: Data(material)) } catch { throw .damaged(detail: "it is not JSON") }
    try self.init(json: json)
  }

  /// What is sealed: the members that are needed to send. A secret.
  package var material: [UInt8] {
    let members: JSONValue = [
      "type": "service_account", "project_id": .string(projectID), "client_email": .string(clientEmail),
      "private_key_id": .string(privateKeyID), "token_uri": .string(tokenURI), "private_key": .string(key.pkcs8PEM),
    ]
    return Array(members.data())
  }

  /// Without the key.
  package var description: String { "service account \(clientEmail)" }
  /// ``description``.
  package var debugDescription: String { description }
}

/// What is wrong with the file of a service account.
package enum ServiceAccountProblem: Sendable, Hashable {
  /// A member is not there, or empty.
  case missing(String)
  /// Its address for tokens is none.
  case tokenURI
  /// Its key ends too early.
  case keyCut
  /// Its key is none.
  case keyUnreadable
  /// Its key is none of RSA with 2048 bits or more.
  case keyKind(String)
  /// What its key signs, its public half does not know.
  case keyDoesNotSign
}
