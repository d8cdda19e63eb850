import Foundation
import HTTPServer
import JSON
import Model
import OpenSSL

/// Checks what a browser says of a passkey (Web Authentication Level 2, §7): for this console, asked by it in the last
/// minutes, and after the person was verified by the device.
struct PasskeyCeremony {
  /// The console's origin, such as `https://push.example.com`.
  let origin: String
  /// The origin's host, which passkeys are bound to.
  let relyingParty: String
  /// Whether a challenge was given out here, and is used for the first time.
  let redeem: (_ challenge: String) -> Bool

  /// A passkey that was just made.
  struct Registration: Equatable {
    let credential: [UInt8]
    let key: PublicKey
    let counter: UInt32
  }

  /// Why a passkey is refused.
  enum Refusal: String, Error, CaseIterable {
    /// Not as browsers send it.
    case malformed
    /// Made for another site, or another kind of request.
    case elsewhere
    /// The challenge is unknown, used, or too old.
    case late
    /// The device did not verify the person.
    case unverified
    case signature
    /// The counter went back: there may be a copy.
    case copied
  }

  /// COSE algorithms (RFC 9053 §2, RFC 8812 §2), the preferred one first.
  static let algorithms = [-7, -8, -257]
  /// Bytes of a credential's ID (§4).
  private static let longestID = 1023

  /// Reads the answer to `navigator.credentials.create`. The attestation is not looked at: any authenticator will do.
  func registration(attestation: [UInt8], clientData: [UInt8]) throws(Refusal) -> Registration {
    try check(clientData, type: "webauthn.create")
    var rest = attestation[...]
    // Every parse error means `malformed`.
    guard let object = try? CBOR(reading: &rest), rest.isEmpty, let bytes = object[.text("authData")]?.bytes else {
      throw .malformed
    }
    let data = try authenticatorData(bytes)
    var body = data.rest
    guard data.flags & 0x40 != 0, body.count > 18 else { throw .malformed }
    body = body.dropFirst(16)
    let length = Int(body[body.startIndex]) << 8 | Int(body[body.startIndex + 1])
    body = body.dropFirst(2)
    guard (1...Self.longestID).contains(length), body.count > length else { throw .malformed }
    let credential = Array(body.prefix(length))
    body = body.dropFirst(length)
    guard let key = try? CBOR(reading: &body), let key = Self.key(key) else { throw .malformed }  // as above
    return Registration(credential: credential, key: key, counter: data.counter)
  }

  /// Checks the answer to `navigator.credentials.get`.
  ///
  /// - Parameter counter: of the last signature.
  /// - Returns: the counter of this one.
  func assertion(
    authenticatorData bytes: [UInt8], clientData: [UInt8], signature: [UInt8], key: PublicKey, counter: UInt32
  ) throws(Refusal) -> UInt32 {
    let data = try authenticatorData(bytes)
    guard key.verifiesPasskey(signature, of: bytes + Digest.sha256(clientData)) else { throw .signature }
    // Last, so that only a good signature uses a challenge up.
    try check(clientData, type: "webauthn.get")
    guard data.counter > counter || (data.counter == 0 && counter == 0) else { throw .copied }
    return data.counter
  }

  private func check(_ clientData: [UInt8], type: String) throws(Refusal) {
    // Every parse error means `malformed`.
    guard let json = try? JSONValue(checking: clientData), let challenge = json["challenge"]?.string else {
      throw .malformed
    }
    guard json["type"]?.string == type, json["origin"]?.string == origin, json["crossOrigin"] != true else {
      throw .elsewhere
    }
    guard redeem(challenge) else { throw .late }
  }

  private func authenticatorData(
    _ bytes: [UInt8]
  ) throws(Refusal) -> (flags: UInt8, counter: UInt32, rest: ArraySlice<UInt8>) {
    guard bytes.count >= 37 else { throw .malformed }
    guard constantTimeEqual(bytes[..<32], Digest.sha256(Array(relyingParty.utf8))) else { throw .elsewhere }
    // User present and user verified.
    guard bytes[32] & 0x05 == 0x05 else { throw .unverified }
    return (bytes[32], bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }, bytes[37...])
  }

  /// The key of a COSE_Key map (RFC 9053 §7, RFC 8230 §4).
  private static func key(_ key: CBOR) -> PublicKey? {
    func bytes(_ label: Int64) -> [UInt8]? { key[.integer(label)]?.bytes }
    switch (key[.integer(1)], key[.integer(3)]) {
    case (.integer(2), .integer(-7)) where key[.integer(-1)] == .integer(1):
      guard let x = bytes(-2), let y = bytes(-3) else { return nil }
      return PublicKey(p256X: x, y: y)
    case (.integer(1), .integer(-8)) where key[.integer(-1)] == .integer(6):
      return bytes(-2).flatMap { PublicKey(ed25519: $0) }
    case (.integer(3), .integer(-257)):
      guard let modulus = bytes(-1), let exponent = bytes(-2) else { return nil }
      return PublicKey(rsaModulus: modulus, exponent: exponent)
    default: return nil
    }
  }
}

extension PageContext {
  /// For passkeys of the console's address.
  var passkeys: PasskeyCeremony {
    let url = URLComponents(string: address)
    let host = (url?.host ?? "").lowercased()
    let scheme = (url?.scheme ?? "https").lowercased()
    let port = url?.port.flatMap { $0 == (scheme == "https" ? 443 : 80) ? nil : ":\($0)" } ?? ""
    let (tickets, now) = (console.tickets, now)
    return PasskeyCeremony(origin: "\(scheme)://\(host)\(port)", relyingParty: host) {
      tickets.redeem($0, "passkey", now: now)
    }
  }
}
