// What several modules need: a page fetched from the server, a word said aloud, a symbol.

/** The page at `url` as a document; throws on an answer that is not a page, and when `signal` aborts. */
export async function fetchPage(url, signal) {
  const answer = await fetch(url, { headers: { Accept: 'text/html' }, credentials: 'same-origin', signal });
  const kind = answer.headers.get('Content-Type') ?? '';
  if (!answer.ok || !kind.startsWith('text/html')) throw new Error(`${url} answered ${answer.status} ${kind}`);
  return new DOMParser().parseFromString(await answer.text(), 'text/html');
}

/** Says `text` through one polite live region, for what the eye sees change but a screen reader would not. */
export function announce(text) {
  if (!voice) {
    voice = Object.assign(document.createElement('p'), { className: 'visually-hidden' });
    voice.setAttribute('role', 'status');
    document.body.append(voice);
  }
  // The same text twice is no change, and is not read out: empty it first.
  voice.textContent = '';
  clearTimeout(speaking);
  speaking = setTimeout(() => { voice.textContent = text; }, 50);
}

/** Calls `action` once `delay` ms have passed without another call. */
export function debounced(action, delay = 300) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, delay);
  };
}

/** Reads the page anew, but never away from under someone who types: then it waits until the field is left. */
export function reloadWhenIdle() {
  if (!document.activeElement?.matches('input, textarea, select')) return location.reload();
  document.activeElement.addEventListener('blur', () => setTimeout(reloadWhenIdle), { once: true });
}

/** A symbol of the page's own set of icons. */
export function icon(symbol) {
  const [svg, use] = ['svg', 'use'].map((name) => document.createElementNS('http://www.w3.org/2000/svg', name));
  const set = document.querySelector('.icon use')?.getAttribute('href').split('#')[0];
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  use.setAttribute('href', `${set}#${symbol}`);
  svg.append(use);
  return svg;
}

let voice, speaking;
