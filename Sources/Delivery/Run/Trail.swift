import Foundation
import Glibc
import HTTP2
import Synchronization

/// Records which devices have been sent to without a stored outcome, for the next process if this one is killed.
///
/// A commit per device would cost more than sending. The trail is a file in memory (`/dev/shm`, or the service's
/// `$RUNTIME_DIRECTORY`): what is written there survives the process. After a restart of the machine the file is gone,
/// and every device handed out counts as sent.
///
/// A trail belongs to one process, one database file and one boot of the machine. A push's row holds the ``number`` of
/// its trail before the push sends to its first device.
final class Trail: @unchecked Sendable {
  // @unchecked because a place is written only by its borrower, and the free list has a lock. The place of a push that an
  // error stopped is cleared under that lock, after its last borrower has dropped its notes.

  /// What the previous process left.
  struct Before {
    /// The number of its trail.
    let number: Int64
    /// Devices by push.
    let left: [Int64: [Int64]]
  }

  private struct Header: Equatable {
    var magic: UInt64 = 0x5347_4258_7472_6c31  // SGBXtrl1
    var machine: (UInt64, UInt64)
    var number: Int64

    static func == (one: Header, other: Header) -> Bool {
      one.magic == other.magic && one.machine == other.machine && one.number == other.number
    }
  }

  /// A push (0: the place is free, or its device is not sent yet) and its device.
  private struct Place {
    var push: Int64
    var device: Int64
  }

  /// Devices in flight at once: the windows of eight credentials.
  static let capacity = 65_536
  private static let start = 4096
  /// Bytes for the database's path, zero-terminated; a longer path is not recorded.
  static let pathRange = 64..<start
  private static let size = start + capacity * MemoryLayout<Place>.stride

  /// To whom a place is lent.
  private struct Loan {
    /// 0: to nobody.
    var push: Int64 = 0
    /// The number of the notes that may still write to it; 0: none.
    var notes: Int64 = 0
    /// Whether an error stopped the push, so that nobody returns the place.
    var isAbandoned = false
    /// Whether the device in it has its outcome, and only the end of its notes is missing.
    var isFollowed = false
  }

  /// The places that are lent to nobody: those that came back, and those that were never used.
  private struct FreePlaces {
    var returned: [Int32] = []
    var unused = Int32(0)..<Int32(capacity)
    var loans = [Loan](repeating: Loan(), count: capacity)
    var lastNotes: Int64 = 0

    var count: Int { returned.count + unused.count }

    mutating func take(atMost count: Int) -> [Int32] {
      let known = Array(returned.suffix(count))
      returned.removeLast(known.count)
      let new = unused.prefix(count - known.count)
      unused.removeFirst(new.count)
      return known + new
    }

    mutating func giveBack(_ place: Int32) {
      loans[Int(place)] = Loan()
      returned.append(place)
    }
  }

  /// Never 0.
  let number: Int64
  private let descriptor: Int32
  private let file: String
  private let database: String
  /// The mapped file. An array would end with the process, and writing to the file would cost a system call per device.
  private let memory: UnsafeMutableRawPointer
  private let places: UnsafeMutablePointer<Place>
  private let own: Header
  private let free = Mutex(FreePlaces())

  /// Opens or creates the file of a database.
  ///
  /// - Returns: nil if another process of this database has it, it belongs to another user, or there is no memory for
  ///   it.
  init?(database path: String) {
    guard let machine = Self.machine(), let file = Self.file(database: path), let descriptor = Self.openLocked(file)
    else { return nil }
    // Allocate everything first: running out of memory on a later write would kill the process.
    guard posix_fallocate(descriptor, 0, off_t(Self.size)) == 0,
      let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
    else {
      unlink(file)
      close(descriptor)
      return nil
    }
    (self.descriptor, self.file) = (descriptor, file)
    database = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    self.memory = memory
    places = (memory + Self.start).bindMemory(to: Place.self, capacity: Self.capacity)
    number = Int64.random(in: 1...Int64.max)
    own = Header(machine: machine, number: number)
  }

  deinit {
    munmap(memory, Self.size)
    // No device is without an outcome: the next process does not need the file.
    if free.withLock({ $0.count == Self.capacity }) { unlink(file) }
    close(descriptor)
  }

  /// Opens or creates the file and locks it; nil if another process has it, or it is not this user's.
  ///
  /// - Parameter opened: runs between opening and locking, for tests.
  static func openLocked(_ file: String, opened: () -> Void = {}) -> Int32? {
    for _ in 0..<10 {
      // Everybody may write to /dev/shm: refuse links and files of other users.
      let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { return nil }
      opened()
      var found = stat()
      if isOwn(descriptor), flock(descriptor, LOCK_EX | LOCK_NB) == 0, fstat(descriptor, &found) == 0 {
        if found.st_nlink > 0 { return descriptor }
        // Removed by another process before the lock: the next process would not find it.
        close(descriptor)
      } else {
        close(descriptor)
        return nil
      }
    }
    return nil
  }

  /// The file for a database; nil if the database does not exist.
  static func file(database path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let names = [UInt64(status.st_dev), UInt64(status.st_ino)].map { String($0, radix: 16) }
    return "\(folder)/\(prefix)\(names.joined(separator: "-"))\(suffix)"
  }

  static var folder: String { ProcessInfo.processInfo.environment["RUNTIME_DIRECTORY"] ?? "/dev/shm" }
  /// The file names of this user's trails begin and end with these.
  static var prefix: String { "signalbox-\(String(geteuid(), radix: 16))-" }
  static let suffix = ".trail"

  /// Whether an open file is a regular file of this user.
  static func isOwn(_ descriptor: Int32) -> Bool {
    var found = stat()
    return fstat(descriptor, &found) == 0 && found.st_mode & S_IFMT == S_IFREG && found.st_uid == geteuid()
  }

  /// Identifies this boot of the machine.
  private static func machine() -> (UInt64, UInt64)? {
    guard let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8),
      let id = UUID(uuidString: text.trimmingCharacters(in: .whitespacesAndNewlines))
    else { return nil }
    return withUnsafeBytes(of: id.uuid) { bytes in
      (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
  }

  /// What the previous process left; nil if unknown. Call before ``begin()``.
  func before() -> Before? {
    var header = memory.load(as: Header.self)
    let number = header.number
    header.number = own.number
    guard header == own, number != 0 else { return nil }
    var left: [Int64: [Int64]] = [:]
    for place in UnsafeBufferPointer(start: places, count: Self.capacity) where place.push != 0 {
      left[place.push, default: []].append(place.device)
    }
    return Before(number: number, left: left)
  }

  /// Clears the file and starts a new trail.
  func begin() {
    var header = own
    // A file that is only half cleared must not count.
    header.number = 0
    memory.storeBytes(of: header, as: Header.self)
    places.update(repeating: Place(push: 0, device: 0), count: Self.capacity)
    let path = database.utf8.count < Self.pathRange.count ? Array(database.utf8) + [0] : [0]
    (memory + Self.pathRange.lowerBound).copyMemory(from: path, byteCount: path.count)
    memory.storeBytes(of: own, as: Header.self)
  }

  /// Lends places for devices that are about to be handed out, possibly fewer.
  func take(atMost count: Int, for push: Int64) -> [Int32] {
    free.withLock { free in
      let taken = free.take(atMost: count)
      for place in taken { free.loans[Int(place)] = Loan(push: push) }
      return taken
    }
  }

  /// Returns the places of devices whose outcome or wait is stored, or that were not sent to.
  func giveBack(_ taken: [Int32]) {
    guard !taken.isEmpty else { return }
    for place in taken { places[Int(place)].push = 0 }
    free.withLock { free in
      for place in taken { free.giveBack(place) }
    }
  }

  /// The devices of a push whose places were not returned, because an error interrupted the push.
  func left(by push: Int64) -> [Int64] {
    free.withLock { free in
      free.loans.indices.filter { places[$0].push == push && !free.loans[$0].isFollowed }.map { places[$0].device }
    }
  }

  /// Lends the places of a push again that an error stopped: at once those that no provider knows, the others when it
  /// has dropped them. Those whose device was sent stay until ``follow(push:)``.
  func abandon(push: Int64) {
    free.withLock { free in
      for place in free.loans.indices where free.loans[place].push == push && !free.loans[place].isAbandoned {
        free.loans[place].isAbandoned = true
        if free.loans[place].notes == 0 { lendAgain(place, &free) }
      }
    }
  }

  /// Lends the other places of such a push again too, after the outcomes of ``left(by:)`` are stored.
  func follow(push: Int64) {
    free.withLock { free in
      for place in free.loans.indices where free.loans[place].push == push && free.loans[place].isAbandoned {
        free.loans[place].isFollowed = places[place].push == push
        if free.loans[place].notes == 0 { lendAgain(place, &free) }
      }
    }
  }

  /// Lends an abandoned place again to which nobody writes any more.
  private func lendAgain(_ place: Int, _ free: inout FreePlaces) {
    guard places[place].push == 0 || free.loans[place].isFollowed else { return }
    places[place].push = 0
    free.giveBack(Int32(place))
  }

  /// Records which devices of a batch are sent.
  func notes(push: Int64, places: [Int32]) -> any DepartureNotes {
    let number = free.withLock { free in
      free.lastNotes += 1
      for place in places { free.loans[Int(place)].notes = free.lastNotes }
      return free.lastNotes
    }
    return Notes(self, number, push, places)
  }

  /// The provider has dropped its notes: it writes to none of these places any more.
  private func drop(notes: Int64, _ dropped: [Int32]) {
    free.withLock { free in
      // Most were returned before, and may be lent to others.
      for place in dropped.map(Int.init) where free.loans[place].notes == notes {
        free.loans[place].notes = 0
        if free.loans[place].isAbandoned { lendAgain(place, &free) }
      }
    }
  }

  private final class Notes: DepartureNotes {
    private let trail: Trail
    private let number: Int64
    private let push: Int64
    private let places: [Int32]

    init(_ trail: Trail, _ number: Int64, _ push: Int64, _ places: [Int32]) {
      (self.trail, self.number, self.push, self.places) = (trail, number, push, places)
    }

    deinit { trail.drop(notes: number, places) }

    func left(_ index: Int, id: Int64) { trail.places[Int(places[index])] = Place(push: push, device: id) }
    func returned(_ index: Int) { trail.places[Int(places[index])].push = 0 }
  }
}
