"""Writes recurrence.txt: what python3's zoneinfo says of rules in many zones, for RecurrenceTests.swift.

Independent of the Swift side: it goes day by day and asks for each which UTC instants show the wanted wall time,
instead of computing places in a sequence. Each line: zone | rule | start (UTC) | first occurrences (epoch seconds).
Run: python3 Tests/Push/Fixtures/recurrence.py > Tests/Push/Fixtures/recurrence.txt
With the argument "years" it writes recurrence-years.txt: zone | time | sums of every daily occurrence of each year,
modulo 1 000 003, from YEARS on.
"""
from calendar import monthrange
import sys
from datetime import date, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

UTC = timezone.utc
WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]


def moment(zone, day, hour, minute):
    """The first instant whose wall clock reads the time; else the first second after the gap."""
    naive = datetime(day.year, day.month, day.day, hour, minute)
    for fold in (0, 1):
        instant = naive.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if instant.astimezone(zone).replace(tzinfo=None) == naive:
            return int(instant.timestamp())
    # A gap: the first second at which the wall clock is beyond the time, by halving.
    low = int(naive.replace(tzinfo=UTC).timestamp()) - 16 * 3600
    high = low + 32 * 3600
    while high - low > 1:
        middle = (low + high) // 2
        if datetime.fromtimestamp(middle, zone).replace(tzinfo=None) >= naive:
            high = middle
        else:
            low = middle
    return high


def fits(rule, day, first):
    """Whether the rule's interval, counted from the day of the first, hits the day."""
    kind, interval, value = rule
    if kind == "day":
        return (day - first).days % interval == 0
    if kind == "week":
        monday = lambda d: d - timedelta(d.weekday())
        return WEEKDAYS[day.weekday()] in value and (monday(day) - monday(first)).days // 7 % interval == 0
    if day.day != min(value, monthrange(day.year, day.month)[1]):
        return False
    return ((day.year - first.year) * 12 + day.month - first.month) % interval == 0


def occurrences(zone, rule, hour, minute, start, limit):
    day = datetime.fromtimestamp(start, zone).date() - timedelta(1)
    first, found = None, []
    while len(found) < limit:
        single = (rule[0], 1, rule[2])
        if first is None:
            if fits(single, day, day) and moment(zone, day, hour, minute) >= start:
                first = day
        if first is not None and fits(rule, day, first):
            at = moment(zone, day, hour, minute)
            if not found or at > found[-1]:
                found.append(at)
        day += timedelta(1)
    return found


def text(rule, hour, minute):
    kind, interval, value = rule
    shown = ",".join(value) if kind == "week" else str(value or "")
    return f"{kind} {interval} {shown} {hour:02}:{minute:02}"


def epoch(*parts):
    return int(datetime(*parts, tzinfo=UTC).timestamp())


def main():
    # Zone, and days just before clocks are changed there, with times in the gap and in the hour that comes twice.
    places = [
        ("Europe/Berlin", [(2026, 3, 25), (2026, 10, 22), (1996, 9, 26), (1980, 4, 2), (2030, 3, 27)],
         ["02:00", "02:30", "03:00", "09:00", "00:00"]),
        ("Europe/London", [(1968, 10, 24), (1971, 10, 28), (2027, 3, 26)], ["01:00", "01:59", "02:00"]),
        ("America/New_York", [(2026, 3, 5), (2026, 10, 29), (2007, 3, 8), (1974, 1, 3), (2031, 11, 1)],
         ["01:30", "02:00", "02:15", "23:59"]),
        ("Australia/Lord_Howe", [(2026, 4, 2), (2026, 10, 1), (1981, 2, 26), (2029, 3, 30)],
         ["01:30", "01:45", "02:00", "02:15", "02:30"]),
        ("Asia/Shanghai", [(2026, 1, 1), (1988, 4, 8), (1991, 9, 12)], ["00:00", "00:30", "02:00", "09:00"]),
        ("America/Sao_Paulo", [(2018, 11, 1), (2019, 2, 14), (2017, 10, 13), (2026, 1, 1), (2000, 2, 24)],
         ["00:00", "00:30", "23:30", "23:00", "09:00"]),
        ("Pacific/Apia", [(2011, 12, 27), (2012, 3, 29), (2011, 9, 22), (2026, 1, 1)],
         ["00:00", "03:30", "09:00", "23:59"]),
        ("Pacific/Kwajalein", [(1993, 8, 18)], ["00:00", "12:00"]),
        ("Africa/Casablanca", [(2026, 2, 12), (2026, 3, 19)], ["02:30", "03:00"]),
        ("Asia/Kathmandu", [(1985, 12, 29), (2026, 5, 5)], ["00:05", "00:15", "12:00"]),
        ("Asia/Tehran", [(2022, 3, 18), (2022, 9, 18)], ["00:00", "00:30", "23:30"]),
        ("America/Caracas", [(2007, 12, 6), (2016, 4, 28)], ["02:45", "02:40", "03:00"]),
        ("Europe/Dublin", [(2026, 3, 26), (2026, 10, 22)], ["01:00", "01:30"]),
        ("Antarctica/Troll", [(2026, 3, 26), (2026, 10, 22)], ["01:00", "02:30", "03:00"]),
        ("Asia/Calcutta", [(2026, 1, 1)], ["09:00"]),
        ("UTC", [(2024, 2, 27), (2100, 2, 27)], ["00:00", "23:59"]),
    ]
    rules = [
        ("day", 1, None), ("day", 3, None), ("week", 1, ["sat", "sun"]), ("week", 2, ["mon", "thu", "sun"]),
        ("month", 1, 31), ("month", 1, 30), ("month", 5, 29), ("month", 12, 31), ("month", 1, 1),
    ]
    for name, starts, times in places:
        zone = ZoneInfo(name)
        for parts in starts:
            for number, wanted in enumerate(times):
                hour, minute = map(int, wanted.split(":"))
                for index, rule in enumerate(rules):
                    # Every time with the daily rule, the others taken in turn: enough of each, and a file to look at.
                    if index > 0 and index % len(times) != number:
                        continue
                    start = epoch(*parts, 11, 7, 13)
                    found = occurrences(zone, rule, hour, minute, start, 14 if rule[0] != "month" else 10)
                    print(f"{name} | {text(rule, hour, minute)} | {start} | {' '.join(map(str, found))}")


YEARS = range(1990, 2037)
ZONES = """Africa/Cairo Africa/Casablanca America/Argentina/Buenos_Aires America/Caracas America/Havana America/Mexico_City
America/New_York America/Santiago America/Sao_Paulo America/St_Johns Antarctica/Troll Asia/Amman Asia/Jerusalem
Asia/Kathmandu Asia/Pyongyang Asia/Shanghai Asia/Tehran Asia/Ulaanbaatar Australia/Adelaide Australia/Lord_Howe
Europe/Berlin Europe/Dublin Europe/Istanbul Europe/Moscow Europe/Volgograd Pacific/Apia Pacific/Auckland
Pacific/Chatham Pacific/Fiji Pacific/Kwajalein Pacific/Norfolk Pacific/Tongatapu""".split()


def years():
    for name in ZONES:
        zone = ZoneInfo(name)
        for hour, minute in [(0, 0), (0, 30), (1, 45), (2, 30), (9, 0), (23, 59)]:
            sums, last = [], None
            for year in YEARS:
                day, total = date(year, 1, 1), 0
                while day.year == year:
                    at = moment(zone, day, hour, minute)
                    if at != last:
                        total += at
                    last, day = at, day + timedelta(1)
                sums.append(total % 1_000_003)
            print(f"{name} | {hour:02}:{minute:02} | {' '.join(map(str, sums))}")


years() if sys.argv[1:] == ["years"] else main()
