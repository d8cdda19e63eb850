// The simulator's phones: what arrives is shown without a reload, and what is chosen without leaving the page.

import { listen } from './events.js';
import { fetchPage, reloadWhenIdle, swap } from './refresh.js';

const narrow = matchMedia('(max-width: 860px)');
const region = document.querySelector('#phones');
// As the server wrote it: this runs before console.js dresses times and copy buttons.
let shown = region?.innerHTML;

/** Keeps #phones as the server has it, for every element with data-phones. */
function start() {
  document.querySelectorAll('[data-phones]').forEach((element) => {
    const refresh = refresher();
    let known = element.dataset.changes;
    listen(element.dataset.phones, 'phones', (text) => {
      // On connecting, the server tells how many changes there were: mostly those that the page shows already.
      const isShown = known !== undefined && JSON.parse(text).changes === Number(known);
      known = undefined;
      if (!isShown) refresh();
      connected();
    }, lost);
    addEventListener('popstate', refresh);
    region?.addEventListener('click', (event) => choose(event, refresh));
    // Browsers leave a link where it is if a part of it is in view.
    region?.addEventListener('focusin', ({ target }) => {
      if (target.closest('.shelf')) target.scrollIntoView({ block: 'nearest', inline: 'nearest' });
    });
  });
  showCurrent();
  showClocks();
  setInterval(showClocks, 5000);
}

function lost() {
  setTimeout(reloadWhenIdle, 5000);
}

// A thousand pushes are a thousand events: those that come during a fetch share the next one.
function refresher() {
  let busy = false, again = false;
  return async function refresh() {
    again = busy;
    if (busy) return;
    busy = true;
    try {
      const fresh = (await fetchPage(location.href)).querySelector('#phones');
      // The first event after connecting mostly tells nothing new, and a button must not go from under a finger.
      if (fresh && region && fresh.innerHTML !== shown) {
        shown = fresh.innerHTML;
        const before = arrivals();
        swap(region, fresh);
        land(before);
        showCurrent();
        showClocks();
      }
    } catch {
      // The next event tries again; what is shown stays true of its moment.
    }
    busy = false;
    if (again) await refresh();
  };
}

/** Shows another phone or notification in place; the address says which. */
async function choose(event, refresh) {
  const link = event.target.closest?.('a[href]');
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (!link || !isPlain || link.pathname !== location.pathname || link.origin !== location.origin) return;
  event.preventDefault();
  const isMessage = Boolean(link.closest('.inbox'));
  history.pushState(null, '', link.href);
  await refresh();
  if (isMessage && narrow.matches) document.querySelector('#message')?.scrollIntoView({ block: 'start' });
}

function arrivals() {
  return new Set([...document.querySelectorAll('[data-arrival]')].map((element) => element.dataset.arrival));
}

/** Lets what was not on a screen before land there. */
function land(before) {
  document.querySelectorAll('[data-arrival]').forEach((element) => {
    if (!before.has(element.dataset.arrival)) element.classList.add('new');
  });
}

/** Scrolls the shelf sideways to the chosen phone; the page stays where it is. */
function showCurrent() {
  const chosen = document.querySelector('.shelf [aria-current]');
  if (!chosen) return;
  const shelf = chosen.closest('.shelf').getBoundingClientRect(), here = chosen.getBoundingClientRect();
  if (here.left >= shelf.left && here.right <= shelf.right) return;
  chosen.closest('.shelf').scrollLeft += (here.left + here.right - shelf.left - shelf.right) / 2;
}

/** The phones' clocks in the viewer's zone; the server writes UTC. */
function showClocks() {
  const time = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
  const text = time.format(new Date());
  document.querySelectorAll('[data-clock]').forEach((element) => {
    if (element.textContent !== text) element.textContent = text;
  });
}

function connected() {
  document.querySelectorAll('[data-connected]').forEach((element) => {
    if (element.textContent !== element.dataset.connected) element.textContent = element.dataset.connected;
  });
}

start();
