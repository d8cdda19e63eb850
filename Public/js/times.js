// Times as the viewer's clock shows them. The server writes UTC, which stays in the title, exact.

const language = document.documentElement.lang || 'en';
// English dates have the day first, as 22 Nov 2026: nobody misreads it.
const dates = language === 'en' ? 'en-GB' : language;
// 24 hours in every language: logs are compared, and "12:05 AM" is misread.
const moment = new Intl.DateTimeFormat(dates, { dateStyle: 'medium', timeStyle: 'short', hourCycle: 'h23' });
const exact = new Intl.DateTimeFormat(dates, { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23' });
const inUTC = new Intl.DateTimeFormat(dates, {
  dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23', timeZone: 'UTC',
});
// Within a sentence nothing else says which clock it is.
const zones = new Intl.DateTimeFormat(dates, { timeZoneName: 'short' });
// A day without an hour is the same day everywhere: never moved to another zone.
const day = new Intl.DateTimeFormat(dates, { dateStyle: 'medium', timeZone: 'UTC' });
// "tomorrow" for what is 47 hours away, or "next month" for 31 days, is too loose beside a certificate: count.
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'always' });
const short = new Intl.RelativeTimeFormat(language, { numeric: 'always', style: 'short' });
const now = new Intl.RelativeTimeFormat(language, { numeric: 'auto' }).format(0, 'second');
// As the server writes it.
const justNow = { en: 'just now', 'zh-Hans': '刚刚' }[language] ?? now;
// Unit, its seconds, and from how many of it on it is used: 45 days are said as days.
const spans = [
  ['year', 31_536_000, 2], ['month', 2_592_000, 3], ['day', 86_400, 1], ['hour', 3600, 1], ['minute', 60, 1],
];
const dayOnly = /^\d{4}-\d\d-\d\d$/;

// As the server writes a time within a sentence: 22 Nov 2026, 07:52 UTC, or 2026年11月22日 07:52 UTC.
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const sentenceTime = new RegExp(
  `(?:(?<year>\\d{4})年(?<month>\\d{1,2})月(?<day>\\d{1,2})日 |(?<d>\\d{1,2}) (?<name>${months.join('|')}) (?<y>\\d{4}), )`
    + '(?<clock>\\d\\d:\\d\\d) UTC');

/** Dresses every <time datetime> below `root`, also those within sentences, and fills in the zone's name. */
export function showTimes(root = document) {
  findTimes(root);
  root.querySelectorAll('time[datetime]').forEach(show);
  root.querySelectorAll('[data-zone]').forEach((element) => {
    element.textContent = Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';
  });
}

/** Makes a <time> of every time that is part of a sentence. Code and what people typed stay as they are. */
function findTimes(root) {
  const texts = document.createTreeWalker(root.body ?? root, NodeFilter.SHOW_TEXT, (text) =>
    sentenceTime.test(text.data) && !text.parentElement.closest('time, pre, code, textarea, option, script, svg')
      ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_SKIP);
  while (texts.nextNode()) {
    const text = texts.currentNode;
    const { 0: whole, groups } = sentenceTime.exec(text.data);
    const month = groups.month ?? `${months.indexOf(groups.name) + 1}`;
    const [year, day] = [groups.year ?? groups.y, groups.day ?? groups.d];
    text.splitText(text.data.indexOf(whole)).splitText(whole.length);
    const time = document.createElement('time');
    time.dateTime = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}T${groups.clock}Z`;
    time.dataset.zoned = '';
    time.textContent = whole;
    text.nextSibling.replaceWith(time);
    texts.currentNode = time;
  }
}

/** Keeps relative times true while the page stays open. */
export function keepTimes() {
  setInterval(() => document.querySelectorAll('time[data-relative]').forEach(show), 30_000);
}

function show(element) {
  const written = element.getAttribute('datetime');
  const date = new Date(written);
  // Durations are good <time> values too, and no date.
  if (Number.isNaN(date.getTime())) return;
  const whole = dayOnly.test(written);
  if (!whole) element.title = `${said(inUTC, date)} UTC`;
  const text = 'relative' in element.dataset ? spaced(distance(date))
    : said(whole ? day : 'exact' in element.dataset ? exact : moment, date)
      + ('zoned' in element.dataset ? ` ${zone(date)}` : '');
  if (element.textContent !== text) element.textContent = text;
}

// As "CET" or "GMT+8".
const zone = (date) => zones.formatToParts(date).find(({ type }) => type === 'timeZoneName').value;

// British English shortens September to four letters; the server and every other month take three.
const said = (format, date) => format.format(date).replace('Sept ', 'Sep ');

// "4 分钟前": a blank between digits and Han characters, as everywhere in the console.
const spaced = (text) => text.replace(/(?<=\d)(?=\p{Script=Han})|(?<=\p{Script=Han})(?=\d)/gu, ' ');

function distance(date) {
  const seconds = (date.getTime() - Date.now()) / 1000;
  const [unit, length] = spans.find(([, length, least]) => Math.abs(seconds) >= length * least) ?? [];
  // Towards zero: "in 12 days" must not promise a day that is not there.
  const count = Math.trunc(seconds / length);
  if (!unit) return seconds > 0 ? now : justNow;
  // As the server writes them: "4 min ago", "2 h ago", "3 days ago".
  if (seconds < 0 && length <= 3600) return short.format(count, unit).replace('hr.', 'h').replace('min.', 'min');
  return relative.format(count, unit);
}
