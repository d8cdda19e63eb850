// A page brought up to date: fetched, swapped region by region, or read anew.

import { base } from './page.js';

/** The page at `url` as a document; throws on an answer that is not a page, and when `signal` aborts. */
export async function fetchPage(url, signal) {
  // The search answers a script with its list, where it would lead a person straight to the page that an ID names.
  const headers = { Accept: 'text/html', 'X-Requested-With': 'fetch' };
  const answer = await fetch(url, { headers, credentials: 'same-origin', signal });
  const kind = answer.headers.get('Content-Type') ?? '';
  if (!answer.ok || !kind.startsWith('text/html')) throw new Error(`${url} answered ${answer.status} ${kind}`);
  return new DOMParser().parseFromString(await answer.text(), 'text/html');
}

/**
 * Replaces what is inside `region` by what is inside `fresh`. The person at work must not notice:
 * focus and caret, open <details>, scrolled boxes and half-typed fields come over.
 * Then `refreshed` bubbles from `region`, so that times and copy buttons are dressed again.
 */
export function swap(region, fresh) {
  const kept = keep(region);
  region.replaceChildren(...document.importNode(fresh, true).childNodes);
  restore(region, kept);
  region.dispatchEvent(new CustomEvent('refreshed', { bubbles: true }));
}

/** Reads the page anew, but never away from under someone who types: then it waits until the field is left. */
export function reloadWhenIdle() {
  if (!document.activeElement?.matches('input, textarea, select')) return reload();
  document.activeElement.addEventListener('blur', () => setTimeout(reloadWhenIdle), { once: true });
}

/** Reads the page anew once the server answers: without a network, the browser's own error would take its place. */
export async function reload() {
  try {
    // Any answer will do; the page itself comes with the reload.
    await fetch(`${base}/healthz`, { cache: 'no-store' });
    location.reload();
  } catch {
    setTimeout(reload, 3000);
  }
}

const held = 'a[href], button, input, select, textarea, summary, details, pre, .scroll, [tabindex]';

// Nodes do not survive a swap, so they are known by what they are: nearest id above, what they
// do, and their place among their likes. Rows that come and go need an id of their own for this.
function named(region) {
  const names = new Map();
  const seen = new Map();
  for (const element of region.querySelectorAll(held)) {
    const traits = ['type', 'name', 'href', 'formaction'].map((name) => element.getAttribute(name) ?? '');
    if (element.matches('[type=radio], [type=checkbox], button')) traits.push(element.value);
    const owner = element.id || element.closest('[id]')?.id;
    const action = element.form?.getAttribute('action') ?? '';
    const trait = [owner, element.localName, action, ...traits].join('\n');
    const place = seen.get(trait) ?? 0;
    seen.set(trait, place + 1);
    names.set(`${trait}\n${place}`, element);
  }
  return names;
}

function keep(region) {
  return [...named(region)].map(([name, element]) => ({ name, state: {
    focused: element === document.activeElement,
    open: element.open,
    scroll: [element.scrollLeft, element.scrollTop],
    // Only what a person changed; a value that the server set may be newer on the fresh page.
    value: 'defaultValue' in element && element.value !== element.defaultValue ? element.value : undefined,
    checked: 'defaultChecked' in element && element.checked !== element.defaultChecked ? element.checked : undefined,
    chosen: element.localName === 'select' && [...element.options].some((one) => one.selected !== one.defaultSelected)
      ? element.value : undefined,
    caret: 'selectionStart' in element ? [element.selectionStart, element.selectionEnd] : undefined,
  } }));
}

function restore(region, kept) {
  const names = named(region);
  for (const { name, state } of kept) {
    const element = names.get(name);
    if (!element) continue;
    if (element.localName === 'details') element.open = state.open;
    if (state.value !== undefined) element.value = state.value;
    if (state.checked !== undefined) element.checked = state.checked;
    if (state.chosen !== undefined) element.value = state.chosen;
    if (state.scroll[0] || state.scroll[1]) element.scrollTo(...state.scroll);
    if (!state.focused) continue;
    element.focus({ preventScroll: true });
    // Kinds without a caret (email, number, date) give null here, and throw when told where it is.
    if (state.caret && state.caret[0] !== null) element.setSelectionRange(...state.caret);
  }
}
