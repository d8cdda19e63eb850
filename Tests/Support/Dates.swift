package import Foundation

/// 2026-11-20 12:00:00 UTC.
package let noon = Date(timeIntervalSince1970: 1_795_176_000)
/// In seconds.
package let day = 86_400.0
