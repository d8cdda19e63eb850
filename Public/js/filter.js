// Filters without a reload: the same page is fetched with the new query, and its results are put in place.

import { announce, debounced } from './page.js';
import { fetchPage, swap } from './refresh.js';

/**
 * Makes every form with data-filter answer at once. Without script its button does the same. Typing never leaves the
 * page; in a form with data-filter="leads", Enter goes to what was named exactly.
 */
function start() {
  document.querySelectorAll('form[data-filter]').forEach(answer);
  // A field that has the focus from the start, with what was searched for: typing goes on at its end.
  const field = document.activeElement;
  if (field?.matches('[data-filter] input')) field.setSelectionRange(field.value.length, field.value.length);
}

function answer(form) {
  let running;
  let last = address(form);
  let shown = last;
  const apply = async () => {
    const url = address(form);
    if (url === last) return;
    last = url;
    // A slow answer to an old question must not overwrite a new one.
    running?.abort();
    running = new AbortController();
    const { signal } = running;
    busy(true);
    try {
      await replace(url, signal);
      shown = url;
    } catch {
      // No page, or another page (signed out): go there, and let the person see it.
      if (!signal.aborted) location.assign(url);
    } finally {
      if (!signal.aborted) busy(false);
    }
  };
  const soon = debounced(apply);
  form.addEventListener('input', (event) => {
    // While a Chinese word is being composed, its letters are no query yet.
    if (event.target.matches('select') || event.isComposing) return;
    soon();
  });
  form.addEventListener('compositionend', soon);
  form.addEventListener('change', (event) => {
    if (event.target.matches('select, [type=checkbox], [type=radio]')) apply();
    else soon();
  });
  form.addEventListener('submit', (event) => {
    if (form.dataset.filter === 'leads') {
      // The answer to an older question leads nowhere: then the server looks.
      const exact = address(form) === shown && document.querySelector('[data-results] a[data-exact]');
      if (exact) {
        event.preventDefault();
        location.assign(exact.href);
      }
      return;
    }
    event.preventDefault();
    apply();
  });
}

// The form's own query, without its empty fields, so that the address can be read and shared.
function address(form) {
  const url = new URL(form.getAttribute('action') || location.href, location.href);
  const filled = [...new FormData(form)].filter(([, value]) => typeof value === 'string' && value !== '');
  url.search = new URLSearchParams(filled);
  return url.href;
}

const regions = (root) => [...root.querySelectorAll('[data-results]')];

async function replace(url, signal) {
  const page = await fetchPage(url, signal);
  const fresh = regions(page);
  const shown = regions(document);
  if (fresh.length === 0 || fresh.length !== shown.length) throw new Error('another page');
  // Export links and "clear" depend on the filter as rows do: each marked region is replaced.
  shown.forEach((region, index) => swap(region, fresh[index]));
  history.replaceState(history.state, '', url);
  const text = page.querySelector('[data-results-text]') ?? fresh.map((one) => one.querySelector('.empty h2'))
    .find(Boolean);
  if (text) announce(text.textContent.trim());
}

function busy(yes) {
  regions(document).forEach((region) => region.setAttribute('aria-busy', yes));
}

start();
