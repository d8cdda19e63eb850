// What every page has. Every page works without script; what only some pages have is named in their own heads.

import { listenForCopies, showCopyButtons } from './copy.js';
import { forgetDrafts } from './forget.js';
import { keepTimes, showTimes } from './times.js';

showTimes();
keepTimes();
showCopyButtons();
listenForCopies();
document.addEventListener('refreshed', ({ target }) => {
  showTimes(target);
  showCopyButtons(target);
});
forgetDrafts();
// Not before the page is there: no session ends in its first moments.
const watch = () => import('./session.js').then(({ watchSession }) => watchSession());
if (document.readyState === 'complete') watch();
else addEventListener('load', watch, { once: true });
document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
  const link = document.querySelector('[data-jump]');
  if (!link) return;
  event.preventDefault();
  link.click();
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '?' || event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
  if (event.target.closest('input, textarea, select, [contenteditable]') || document.querySelector('dialog[open]')) return;
  if (!document.querySelector('[data-jump]')) return;
  event.preventDefault();
  import('./shortcuts.js').then(({ showShortcuts }) => showShortcuts());
});
