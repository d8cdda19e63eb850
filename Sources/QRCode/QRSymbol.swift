internal import CQRencode

/// A QR code (ISO/IEC 18004) as a grid of dark and light modules, made by libqrencode.
package struct QRSymbol: Sendable, Hashable {
  /// Light modules that a scanner needs on each side.
  package static let margin = 4

  /// Modules along a side, without the margin: 21 to 177.
  package let width: Int
  /// Row by row from the top left; true is dark.
  private let modules: [Bool]

  /// The smallest symbol that holds the text, as UTF-8, and can be read with 15 % of it missing (level M).
  ///
  /// - Returns: nil if the text is empty, has more than 2331 bytes, or contains NUL.
  package init?(_ text: String) {
    guard !text.utf8.contains(0), let code = QRcode_encodeString(text, 0, QR_ECLEVEL_M, QR_MODE_8, 1) else {
      return nil
    }
    defer { QRcode_free(code) }
    width = Int(code.pointee.width)
    // The lowest bit of each byte is the color; the others say what the module is for.
    modules = UnsafeBufferPointer(start: code.pointee.data, count: width * width).map { $0 & 1 == 1 }
  }

  package func isDark(x: Int, y: Int) -> Bool { modules[y * width + x] }

  /// Modules along a side of the picture, with the margin: the side of an SVG's `viewBox`.
  package var side: Int { width + 2 * Self.margin }

  /// The dark modules as the `d` of an SVG `path`, one unit a module, within a `viewBox` of `0 0 side side`.
  package var path: String {
    var path = ""
    for y in 0..<width {
      var x = 0
      while x < width {
        let start = x
        while x < width, isDark(x: x, y: y) { x += 1 }
        if x > start { path += "M\(start + Self.margin) \(y + Self.margin)h\(x - start)v1h-\(x - start)z" }
        x += 1
      }
    }
    return path
  }
}
