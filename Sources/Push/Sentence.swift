extension String {
  /// Without the full stop at its end: for words of somebody else's in the middle of a sentence.
  public var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
