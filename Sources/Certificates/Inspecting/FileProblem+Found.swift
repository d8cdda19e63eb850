import JSON
import Model

extension FileProblem {
  /// The recognized type of an unsupported file.
  package enum Found: String, Sendable, Hashable, CaseIterable {
    case unknown
    case text
    case image
    case archive
    case document
    case wordDocument = "word_document"
    case webPage = "web_page"
    case mail
    case json
    case googleServices = "google_services"
    case googleClient = "google_client"
    case googleUser = "google_user"
    case googleInfo = "google_info"
    case serverKey = "server_key"
    case publicKey = "public_key"
    case certificateRequest = "certificate_request"
    case certificateBundle = "certificate_bundle"
    case revocationList = "revocation_list"
    case configurationProfile = "configuration_profile"
    case otherPEM = "other_pem"
    case brokenFrame = "broken_frame"
    case keystore
    case keychain
    case macCompanion = "mac_companion"
    case propertyList = "property_list"
    case sshKey = "ssh_key"
    case pgpKey = "pgp_key"
    case app
    case deviceToken = "device_token"
    case lossyToken = "lossy_token"
    case readAsText = "read_as_text"

    /// Says what was found, and what to upload instead.
    var problem: Problem {
      Problem(
        "file", code: "file.not_a_certificate.\(rawValue)",
        remedy.map { "\(what) \($0)" } ?? "\(what) \(Self.expected)",
        self == .lossyToken ? ["remedy": TokenMessage.remedy] : [:])
    }

    private static let expected =
      "Use a certificate with its key (.p12, .pfx, .pem), a certificate (.cer, .crt), an APNs key (.p8), a "
      + "provisioning profile (.mobileprovision), a Google service account (.json), or JPush keys."

    private var what: String {
      switch self {
      case .unknown: "This is not a certificate file, or its beginning is damaged."
      case .text: "This is a text file without a certificate or key."
      case .image: "This is an image."
      case .archive: "This is an archive."
      case .document: "This is a document (PDF)."
      case .wordDocument: "This is a word processor document."
      case .webPage: "This is a web page. The download probably saved a sign-in page instead of the file."
      case .mail: "This is an email."
      case .json: "This JSON file contains neither a Google service account nor JPush keys."
      case .googleServices: "This is google-services.json, which is used to build Android apps. It cannot send pushes."
      case .googleClient: "This is a Google OAuth client, which is used to sign people in. It cannot send pushes."
      case .googleUser: "These are a Google user’s credentials, not a service account’s."
      case .googleInfo: "This is GoogleService-Info.plist, which is used to build iOS apps. It cannot send pushes."
      case .serverKey: "This is a Google API key or server key. FCM has not accepted pushes with such keys since 2024."
      case .publicKey: "This is only a public key."
      case .certificateRequest: "This is a certificate request (CSR), not the certificate."
      case .certificateBundle: "This is a bundle of certificates without a key (PKCS#7, .p7b)."
      case .revocationList: "This is a certificate revocation list (CRL)."
      case .configurationProfile: "This is a configuration profile (.mobileconfig) for devices."
      case .otherPEM: "This PEM file contains neither a certificate nor a private key."
      case .brokenFrame:
        "The lines -----BEGIN …----- and -----END …----- were changed: a program replaced their hyphens with other dashes."
      case .keystore: "This is a Java keystore."
      case .keychain: "This is an entire macOS keychain."
      case .macCompanion: "This is a metadata file (“._…”) that macOS adds to archives. The actual file is next to it."
      case .propertyList: "This is a property list, not a signed provisioning profile."
      case .sshKey: "This is an SSH key."
      case .pgpKey: "This is a PGP key or message."
      case .app: "This is an app."
      case .deviceToken: "This is a device token."
      case .lossyToken: "This is a device token’s description, shortened in the middle (“...”)."
      case .readAsText: "This was a binary file that a program converted to text, which destroyed it."
      }
    }

    private var remedy: String? {
      switch self {
      case .archive: "Unpack it and choose the file inside."
      case .wordDocument: "Save the certificate as plain text (.txt), or export the file again from its source."
      case .webPage: "Sign in to the Apple developer site in a browser and download the file again."
      case .mail: "Save the attachment and choose that."
      case .googleServices, .googleClient, .googleUser, .googleInfo, .serverKey:
        "To get the right key, open the Firebase console, Project settings, Service accounts, Generate new private key."
      case .publicKey: "The private key is needed. Choose the .p8 or .p12 file."
      case .certificateRequest:
        "Upload it to the Apple developer site. Then upload the .cer you get here, with its key as .p12."
      case .certificateBundle:
        "To watch its certificates, run openssl pkcs7 -inform DER -print_certs -in file.p7b -out certificates.pem. To send, "
          + "export the certificate and key as .p12."
      case .configurationProfile: "Provisioning profiles end in .mobileprovision. Download that file."
      case .brokenFrame:
        "Copy the text from the original file instead of a document or chat, or type five hyphens in each place."
      case .keystore:
        "Convert it with keytool -importkeystore -srckeystore FILE -destkeystore new.p12 -deststoretype PKCS12"
      case .keychain: "Open it in Keychain Access, select the certificate with its key, and export them as .p12."
      case .macCompanion: "Choose the file with the same name but without the leading “._”."
      case .propertyList: "Download the .mobileprovision file from the Apple developer site."
      case .app: "Extract its profile: unzip -p App.ipa 'Payload/*/embedded.mobileprovision' > app.mobileprovision"
      case .deviceToken: "Add it under Devices."
      case .lossyToken: "Log the token in the app with {remedy}, then add it under Devices."
      case .readAsText: "Download or export it again and copy it as a binary file."
      default: nil
      }
    }
  }
}
