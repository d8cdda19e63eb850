// A page whose session has ended leaves: what it shows must not stay on the screen. Each tab knows when its session
// would end, and asks before it leaves, because another tab may have used the session since.

import { forgetNow } from './forget.js';
import { base } from './page.js';

const channel = 'BroadcastChannel' in window ? new BroadcastChannel('signalbox.session') : undefined;
const longest = 2 ** 31 - 1;

let timer;
let signedOut = false;
let doubted = false;

/** Watches the session of a signed-in page; a page without a session tells the other tabs that there is none. */
export function watchSession() {
  const { session } = document.body.dataset;
  if (session === undefined) return channel?.postMessage('gone');
  ask(Number(session));
  document.addEventListener('submit', ({ target }) => {
    if (target.matches('form[action$="/session/end"]')) channel?.postMessage('out');
  });
  channel?.addEventListener('message', ({ data }) => {
    // Once signed out, this page's own form is forgotten too. Whether it came to that, the server knows.
    if (data === 'out') signedOut = true;
    else check();
  });
  document.addEventListener('visibilitychange', () => { if (!document.hidden) check(); });
  addEventListener('pageshow', ({ persisted }) => { if (persisted) check(); });
}

function ask(seconds) {
  clearTimeout(timer);
  timer = setTimeout(check, Math.min(seconds * 1000 + 500, longest));
}

async function check() {
  let seconds;
  try {
    const answer = await fetch(`${base}/session/left`, { credentials: 'same-origin', cache: 'no-store' });
    ({ seconds } = await answer.json());
  } catch {
    // The server is away: nothing else could be shown.
    return ask(30);
  }
  if (!Number.isFinite(seconds)) return ask(30);
  if (seconds > 0) {
    doubted = false;
    return ask(seconds);
  }
  // A session that was given a new ID a moment ago, in another tab, is not over: the next request has its cookie.
  if (!doubted) {
    doubted = true;
    return ask(0.5);
  }
  if (signedOut) forgetNow();
  const kept = signedOut ? undefined : await import('./leaving.js').then(({ keep }) => keep(own), () => undefined);
  const back = encodeURIComponent(kept ?? own(location.pathname) + location.search);
  location.replace(`${base}/session/new?why=${signedOut ? 'out' : kept ? 'kept' : 'ended'}&return=${back}`);
}

// A path as the console knows it, which may be served below another one.
function own(path) { return path.slice(base.length); }
