import Foundation
import Glibc
import HTTP2
import Synchronization

/// Which devices pushes have left for without an outcome that is kept: so that the next process knows it when this one
/// is killed.
///
/// A commit for each device would cost more than sending. It is a file in memory (`/dev/shm`, or the service's own
/// `$RUNTIME_DIRECTORY`): what is written there is the system's from that moment, whatever becomes of the process. When
/// the machine itself ended, the file is gone, and all that was handed out counts as sent.
///
/// It belongs to one process, one database file and one run of the machine. A push's row says the number of its trail
/// (``number``) before the push leaves for its first device.
final class Trail: @unchecked Sendable {
  // @unchecked because: a place is written by whoever was lent it, and by nobody else; the free ones are locked.

  /// What a process before left.
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

  /// A push (0: the place is free, or its device has not left), and its device.
  private struct Place {
    var push: Int64
    var device: Int64
  }

  /// How many devices may be under way at once: those of eight credentials.
  static let capacity = 65_536
  private static let start = 4096
  /// Where the database's path stands, with a zero behind it; a longer one does not stand there.
  static let pathRange = 64..<start
  private static let size = start + capacity * MemoryLayout<Place>.stride

  /// Never 0.
  let number: Int64
  private let descriptor: Int32
  private let file: String
  private let database: String
  private let memory: UnsafeMutableRawPointer
  private let places: UnsafeMutablePointer<Place>
  private let own: Header
  private let free: Mutex<[Int32]>

  /// Opens the file of a database, or makes it.
  ///
  /// - Returns: nil if another process of this database has it, it is not ours, or there is no room for it.
  init?(database path: String) {
    guard let machine = Self.machine(), let file = Self.file(database: path) else { return nil }
    // Everybody may write into /dev/shm: neither a link nor somebody else's file is taken for ours.
    let descriptor = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return nil }
    guard Self.isOwn(descriptor), flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      return nil
    }
    // All of it is there before it is written to: a lack of memory would otherwise end the process.
    guard posix_fallocate(descriptor, 0, off_t(Self.size)) == 0,
      let memory = mmap(nil, Self.size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0), memory != MAP_FAILED
    else {
      unlink(file)
      close(descriptor)
      return nil
    }
    self.descriptor = descriptor
    self.file = file
    database = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    self.memory = memory
    places = (memory + Self.start).bindMemory(to: Place.self, capacity: Self.capacity)
    number = Int64.random(in: 1...Int64.max)
    own = Header(machine: machine, number: number)
    free = Mutex((0..<Int32(Self.capacity)).reversed())
  }

  deinit {
    munmap(memory, Self.size)
    // Nobody has left without an outcome: the next process has nothing to learn from it.
    if free.withLock({ $0.count == Self.capacity }) { unlink(file) }
    close(descriptor)
  }

  /// Where the file of a database is; nil: there is no such database.
  static func file(database path: String) -> String? {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    let names = [UInt64(status.st_dev), UInt64(status.st_ino)].map { String($0, radix: 16) }
    return "\(folder)/\(prefix)\(names.joined(separator: "-"))\(suffix)"
  }

  static var folder: String { ProcessInfo.processInfo.environment["RUNTIME_DIRECTORY"] ?? "/dev/shm" }
  /// How the names of this user's files begin and end.
  static var prefix: String { "signalbox-\(String(geteuid(), radix: 16))-" }
  static let suffix = ".trail"

  /// Whether an open file is a plain one of this user.
  static func isOwn(_ descriptor: Int32) -> Bool {
    var found = stat()
    return fstat(descriptor, &found) == 0 && found.st_mode & S_IFMT == S_IFREG && found.st_uid == geteuid()
  }

  /// Names this run of the machine.
  private static func machine() -> (UInt64, UInt64)? {
    guard let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8),
      let id = UUID(uuidString: text.trimmingCharacters(in: .whitespacesAndNewlines))
    else { return nil }
    return withUnsafeBytes(of: id.uuid) { bytes in
      (bytes.loadUnaligned(as: UInt64.self), bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
    }
  }

  /// What the process before left; nil: it is not known. Only before ``begin()``.
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

  /// Forgets what a process before left, and begins anew.
  func begin() {
    var header = own
    // Whoever finds it half erased does not believe it.
    header.number = 0
    memory.storeBytes(of: header, as: Header.self)
    places.update(repeating: Place(push: 0, device: 0), count: Self.capacity)
    let path = database.utf8.count < Self.pathRange.count ? Array(database.utf8) + [0] : [0]
    (memory + Self.pathRange.lowerBound).copyMemory(from: path, byteCount: path.count)
    memory.storeBytes(of: own, as: Header.self)
  }

  /// Lends places for devices that are about to be handed out; fewer if there are no more.
  func take(atMost count: Int) -> [Int32] {
    free.withLock { free in
      let taken = Array(free.suffix(count))
      free.removeLast(taken.count)
      return taken
    }
  }

  /// Gives places back whose devices have their outcome, or wait, in the store; or were not handed out.
  func giveBack(_ taken: [Int32]) {
    guard !taken.isEmpty else { return }
    for place in taken { places[Int(place)].push = 0 }
    free.withLock { $0 += taken }
  }

  /// The devices that a push of this process has left for without giving their places back: an error cut it short.
  func left(by push: Int64) -> [Int64] {
    UnsafeBufferPointer(start: places, count: Self.capacity).filter { $0.push == push }.map(\.device)
  }

  /// Notes which devices of a batch leave.
  func notes(push: Int64, places: [Int32]) -> any DepartureNotes { Notes(self, push, places) }

  private final class Notes: DepartureNotes {
    private let trail: Trail
    private let push: Int64
    private let places: [Int32]

    init(_ trail: Trail, _ push: Int64, _ places: [Int32]) {
      self.trail = trail
      self.push = push
      self.places = places
    }

    func left(_ index: Int, id: Int64) { trail.places[Int(places[index])] = Place(push: push, device: id) }
    func returned(_ index: Int) { trail.places[Int(places[index])].push = 0 }
  }
}
