/// A struct shown by a template. Its members are listed once, by the names that templates use:
///
/// ```swift
/// struct PushRow: View {
///   let push: Push
///   static let fields: [Field<Self>] = [
///     .text("href") { "/pushes/\($0.push.uid)" },
///     .flag("production") { $0.push.environment == .production },
///     .list("bars") { $0.bars },
///   ]
/// }
/// ```
///
/// A template is bound to its view when it is compiled: an unlisted name is an error with its place.
public protocol View: Sendable {
  static var fields: [Field<Self>] { get }
}

/// One member of a view: its name in templates, and its reader.
///
/// The readers are inlinable so that they are compiled for the owner's type; otherwise each read would copy the whole
/// struct and retain every text in it.
public struct Field<Owner: Sendable>: Sendable {
  let name: String
  let slot: Slot

  @usableFromInline
  init(name: String, slot: Slot) {
    self.name = name
    self.slot = slot
  }

  /// Text, escaped when written. In a section, an empty one is false.
  @inlinable
  public static func text(_ name: String, _ read: @escaping @Sendable (Owner) -> String) -> Self {
    Field(
      name: name,
      slot: .value(
        write: { owner, output in output.write(read(owner.assumingMemoryBound(to: Owner.self).pointee)) },
        isTrue: { owner in !read(owner.assumingMemoryBound(to: Owner.self).pointee).isEmpty }, number: nil))
  }

  /// Optional text: nil writes nothing and is false in a section.
  @inlinable
  public static func optional(_ name: String, _ read: @escaping @Sendable (Owner) -> String?) -> Self {
    Field(
      name: name,
      slot: .value(
        write: { owner, output in
          if let text = read(owner.assumingMemoryBound(to: Owner.self).pointee) { output.write(text) }
        },
        isTrue: { owner in !(read(owner.assumingMemoryBound(to: Owner.self).pointee) ?? "").isEmpty }, number: nil))
  }

  /// An integer, written with groups. It can choose a text's plural form.
  @inlinable
  public static func number(_ name: String, _ read: @escaping @Sendable (Owner) -> Int) -> Self {
    Field(
      name: name,
      slot: .value(
        write: { owner, output in output.write(grouped: read(owner.assumingMemoryBound(to: Owner.self).pointee)) },
        isTrue: { owner in read(owner.assumingMemoryBound(to: Owner.self).pointee) != 0 },
        number: { owner in read(owner.assumingMemoryBound(to: Owner.self).pointee) }))
  }

  /// A value that writes and escapes itself: an instant, a duration, an ungrouped number.
  @inlinable
  public static func written(_ name: String, _ write: @escaping @Sendable (Owner, inout Output) -> Void) -> Self {
    Field(
      name: name,
      slot: .value(
        write: { owner, output in write(owner.assumingMemoryBound(to: Owner.self).pointee, &output) },
        isTrue: { _ in true }, number: nil))
  }

  /// A condition for sections.
  @inlinable
  public static func flag(_ name: String, _ read: @escaping @Sendable (Owner) -> Bool) -> Self {
    Field(name: name, slot: .flag { owner in read(owner.assumingMemoryBound(to: Owner.self).pointee) })
  }

  /// Another view: its members have dotted names (`app.name`), or are used within a section of this name.
  @inlinable
  public static func view<Child: View>(_ name: String, _ read: @escaping @Sendable (Owner) -> Child) -> Self {
    Field(
      name: name,
      slot: .children(
        Slot.Children(
          view: Child.self, isList: false, isTrue: { _ in true },
          visit: { owner, body in
            withUnsafePointer(to: read(owner.assumingMemoryBound(to: Owner.self).pointee)) { body($0) }
          })))
  }

  /// An optional view: nil writes nothing and is false in a section.
  @inlinable
  public static func view<Child: View>(_ name: String, _ read: @escaping @Sendable (Owner) -> Child?) -> Self {
    Field(
      name: name,
      slot: .children(
        Slot.Children(
          view: Child.self, isList: false,
          isTrue: { owner in read(owner.assumingMemoryBound(to: Owner.self).pointee) != nil },
          visit: { owner, body in
            guard let child = read(owner.assumingMemoryBound(to: Owner.self).pointee) else { return }
            withUnsafePointer(to: child) { body($0) }
          })))
  }

  /// Views that a section repeats over.
  @inlinable
  public static func list<Child: View>(_ name: String, _ read: @escaping @Sendable (Owner) -> [Child]) -> Self {
    Field(
      name: name,
      slot: .children(
        Slot.Children(
          view: Child.self, isList: true,
          isTrue: { owner in !read(owner.assumingMemoryBound(to: Owner.self).pointee).isEmpty },
          visit: { owner, body in
            read(owner.assumingMemoryBound(to: Owner.self).pointee).withUnsafeBufferPointer { children in
              guard var child = children.baseAddress else { return }
              for _ in children.indices {
                body(child)
                child += 1
              }
            }
          })))
  }
}

extension String: View {
  /// A text in a list is `{{.}}`.
  public static let fields: [Field<String>] = [.text(".") { $0 }]
}

/// A type-erased reader of a member. The pointer must be to a value of the type whose list of members contains this
/// slot; only `Binder` combines them.
@usableFromInline
enum Slot: Sendable {
  @usableFromInline typealias Write = @Sendable (UnsafeRawPointer, inout Output) -> Void
  @usableFromInline typealias Test = @Sendable (UnsafeRawPointer) -> Bool
  @usableFromInline typealias Visit = @Sendable (UnsafeRawPointer, (UnsafeRawPointer) -> Void) -> Void

  @usableFromInline
  struct Children: Sendable {
    /// The type, and not its members: views may contain views of their own type.
    let view: any View.Type
    let isList: Bool
    let isTrue: Test
    let visit: Visit

    @usableFromInline
    init(view: any View.Type, isList: Bool, isTrue: @escaping Test, visit: @escaping Visit) {
      self.view = view
      self.isList = isList
      self.isTrue = isTrue
      self.visit = visit
    }
  }

  case value(write: Write, isTrue: Test, number: (@Sendable (UnsafeRawPointer) -> Int)?)
  case flag(Test)
  case children(Children)

  var isTrue: Test {
    switch self {
    case .value(_, let isTrue, _): isTrue
    case .flag(let test): test
    case .children(let children): children.isTrue
    }
  }
}

/// The members of a view by their names.
struct Members: Sendable {
  private let view: any View.Type
  let slots: [String: Slot]

  init<V: View>(_ view: V.Type) {
    self.view = view
    slots = Dictionary(V.fields.map { ($0.name, $0.slot) }) { first, _ in first }
  }

  /// For messages.
  var typeName: String { String(describing: view) }
}
