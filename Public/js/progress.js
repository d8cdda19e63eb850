// The result page while its push runs: numbers, bars and reasons live, then one reload for the final rows.

import { listen } from './events.js';
import { announce } from './page.js';
import { fetchPage, reloadWhenIdle, swap } from './refresh.js';

// In threes with commas, as the server writes them: a number must not change its look on its first event.
const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ',');
const namespace = 'http://www.w3.org/2000/svg';
// Drawn from the left in this order, each with the class of its colour; what is pending is the ground that stays bare.
const colours = { accepted: 'f-acc', failed: 'f-fail', dead_token: 'f-dead', skipped: 'f-skip', unknown: 'f-unknown' };

/** Follows the push of every element with data-progress. */
function start() {
  document.querySelectorAll('[data-progress]').forEach(follow);
}

function follow(panel) {
  const url = panel.dataset.progress;
  const parts = partsFollower();
  let spoken = 0;
  const stop = listen(url, 'progress', (text) => {
    const news = JSON.parse(text);
    const now = Date.now();
    for (const element of document.querySelectorAll('[data-live]')) show(element, news);
    document.querySelectorAll('[data-live-dot]').forEach((dot) => { dot.className = `dot ${tone(news)}`; });
    document.querySelectorAll('[data-blocked]').forEach((part) => { part.hidden = !news.blocked; });
    // Before the first device there is nothing that an app could report.
    const reached = news.accepted + news.unknown > 0;
    if (reached) document.querySelectorAll('[data-funnel]').forEach((part) => { part.hidden = false; });
    // Read out at every step, it would never end.
    if (news.finished || now - spoken >= 3000) {
      spoken = now;
      announce(news.sentence);
    }
    panel.querySelectorAll('svg.bar').forEach((svg) => draw(svg, news));
    ['target', 'accepted'].forEach((step) => showStep(step, news));
    if (!news.finished) return parts(news);
    stop();
    finish(url);
  }, () => setTimeout(reloadWhenIdle, 5000));
}

function show(element, news) {
  const key = element.dataset.live;
  if (key === 'bar') {
    // A push without devices: a bar from 0 to 0 is no bar, and max = 0 reads as 1.
    element.max = news.target || 1;
    element.value = news.target ? news.done : Number(news.finished);
    return;
  }
  const text = wording(key, news);
  if (text === undefined || element.textContent === text) return;
  element.textContent = text;
  // An outcome that no device had so far is not in the key.
  if (key in news && typeof news[key] === 'number') element.closest('li')?.toggleAttribute('hidden', news[key] === 0);
}

// The funnel's own events come with the apps' reports: for its first steps they are too late, or never come.
function showStep(step, news) {
  document.querySelectorAll(`[data-receipt=${step}]`).forEach((number) => { number.textContent = grouped(news[step]); });
  const width = `${(100 * news[step]) / Math.max(news.target, 1)}%`;
  document.querySelectorAll(`[data-receipt=${step}_width]`).forEach((bar) => bar.setAttribute('width', width));
}

// As the server colours the dot beside the state.
function tone({ state, accepted, failed, dead_token: dead }) {
  if (state === 'failed' || failed > accepted) return 'red';
  if (failed + dead > 0) return 'amber';
  return state === 'finished' ? '' : 'none';
}

function wording(key, news) {
  const value = news[`${key}_text`] ?? news[key];
  return typeof value === 'number' && key !== 'rate' ? grouped(value)
    : typeof value === 'string' ? value : undefined;
}

function draw(svg, news) {
  let x = 0;
  const parts = Object.keys(colours).filter((kind) => news[kind] > 0).map((kind) => {
    const width = (100 * news[kind]) / Math.max(news.target, 1);
    const part = document.createElementNS(namespace, 'rect');
    const traits = { class: colours[kind], x: `${x}%`, width: `${width}%`, height: '100%' };
    for (const [name, value] of Object.entries(traits)) part.setAttribute(name, value);
    x += width;
    return part;
  });
  if (news.sentence) svg.setAttribute('aria-label', news.sentence);
  svg.replaceChildren(...parts);
}

// Causes, bars and rows are the server's: when there are other reasons, or more answers, those parts of the page are
// fetched again, one request at a time and three seconds apart.
function partsFollower() {
  let shown, wanted, busy = false;
  const update = async () => {
    if (busy || shown === wanted) return;
    busy = true;
    shown = wanted;
    try {
      const page = await fetchPage(location.href);
      for (const name of ['data-reasons', 'data-providers', 'data-latency']) exchange(`[${name}]`, page);
      // The first rows come once; afterwards a person reads them. What waits changes until it has an outcome.
      const isRead = document.querySelector('[data-devices] table') && !document.querySelector('[data-waiting]');
      if (!isRead) exchange('[data-devices]', page);
    } catch {
      // The last reload brings them anyhow.
    }
    setTimeout(() => { busy = false; update(); }, 3000);
  };
  return (news) => {
    wanted = JSON.stringify(
      [news.failed, news.dead_token, news.skipped, news.waiting, news.waiting_inactive, news.done]);
    // Nothing has come yet: the page says so already.
    if (shown === undefined && !news.done && !news.waiting) shown = wanted;
    update();
  };
}

function exchange(selector, page) {
  const [region, fresh] = [document.querySelector(selector), page.querySelector(selector)];
  if (region && fresh) swap(region, fresh);
}

// Once is enough, unless the page was read before the end was written: then again, later, three
// times at most, lest a page that stays live be reloaded for ever.
function finish(url) {
  const key = `signalbox.finished:${url}`;
  try {
    const times = Number(sessionStorage.getItem(key) ?? 0);
    if (times >= 3) return;
    sessionStorage.setItem(key, times + 1);
    setTimeout(reloadWhenIdle, times * 2000);
  } catch {
    // Without storage nobody counts: the numbers are right, the rows wait for the person's own reload.
  }
}

start();
