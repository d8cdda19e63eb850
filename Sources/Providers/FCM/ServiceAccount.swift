import Foundation
package import JSON
package import OpenSSL

/// A Google service account, from its JSON file (Google Cloud, “Create and delete service account keys”).
package struct ServiceAccount: Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// As `shop-1a2b3`.
  package let projectID: String
  /// As `firebase-adminsdk-x@shop-1a2b3.iam.gserviceaccount.com`.
  package let clientEmail: String
  /// 40 hexadecimal digits.
  package let privateKeyID: String
  /// The URL that issues access tokens.
  package let tokenURI: String
  /// An RSA key. A secret.
  package let key: PrivateKey

  /// Used if the file names no other.
  package static let googleTokenURI = "https://oauth2.googleapis.com/token"
  /// Google creates 2048-bit keys.
  static let keyBits = 2048...8192

  package init(projectID: String, clientEmail: String, privateKeyID: String, tokenURI: String, key: PrivateKey) {
    (self.projectID, self.clientEmail, self.privateKeyID) = (projectID, clientEmail, privateKeyID)
    (self.tokenURI, self.key) = (tokenURI, key)
  }

  package init(json: JSONValue) throws(ServiceAccountProblem) {
    func text(_ name: String) throws(ServiceAccountProblem) -> String {
      guard let text = json[name]?.string?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else {
        throw .missing(name)
      }
      return text
    }
    projectID = try text("project_id")
    clientEmail = try text("client_email")
    privateKeyID = try text("private_key_id")
    guard clientEmail.contains("@"), clientEmail.utf8.count <= 320 else { throw .missing("client_email") }
    tokenURI = json["token_uri"]?.string ?? Self.googleTokenURI
    guard tokenURI.hasPrefix("https://"), let address = URL(string: tokenURI), address.host != nil,
      (1...65_535).contains(address.port ?? 443)
    else { throw .tokenURI }
    let pem = try text("private_key")
    do { key = try PrivateKey(pem: pem) } catch {
      throw error == .truncated ? .keyCut : .keyUnreadable
    }
    guard case .rsa(let bits) = key.algorithm, Self.keyBits.contains(bits) else {
      throw .keyKind(key.algorithm.description)
    }
    // A damaged key with mismatched parts can be read, but its signatures are invalid: try one.
    let message = Data("signalbox".utf8)
    guard let signature = try? key.signRS256(message), key.publicKey.verifiesRS256(signature, of: message) else {
      throw .keyDoesNotSign
    }
  }

  /// Reads ``material``.
  package init(material: [UInt8]) throws(ServiceAccountProblem) {
    // What is not JSON has none of the members.
    try self.init(json: (try? JSONValue(parsing: material)) ?? .null)
  }

  /// The bytes to seal: the members needed to send. A secret.
  package var material: [UInt8] {
    let members: JSONValue = [
      "type": "service_account", "project_id": .string(projectID), "client_email": .string(clientEmail),
      "private_key_id": .string(privateKeyID), "token_uri": .string(tokenURI), "private_key": .string(key.pkcs8PEM),
    ]
    return Array(members.data())
  }

  /// Without the key.
  package var description: String { "service account \(clientEmail)" }
  package var debugDescription: String { description }
}

package enum ServiceAccountProblem: Error, Sendable, Hashable {
  /// The named member is missing or empty.
  case missing(String)
  /// The token URL is invalid.
  case tokenURI
  /// The key is truncated.
  case keyCut
  case keyUnreadable
  /// Not an RSA key of 2048 bits or more.
  case keyKind(String)
  /// A signature by the key does not verify with its public half.
  case keyDoesNotSign
}
