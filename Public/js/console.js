// What every page has. Every page works without script. A page that has more names one other script in its head.
//
// The server joins each of these with the modules that it imports: ScriptBundle.swift.

import { listenForCopies, showCopyButtons } from './copy.js';
import { forgetDrafts } from './forget.js';
import { watchSession } from './session.js';
import { keepTimes, showTimes } from './times.js';

// After the page's own script, which looks at the page as the server wrote it.
document.addEventListener('DOMContentLoaded', () => {
  showTimes();
  keepTimes();
  showCopyButtons();
});
listenForCopies();
document.addEventListener('refreshed', ({ target }) => {
  showTimes(target);
  showCopyButtons(target);
});
forgetDrafts();
// Not before the page is there: no session ends in its first moments.
if (document.readyState === 'complete') watchSession();
else addEventListener('load', watchSession, { once: true });
const shortcut = document.querySelector('[data-jump] kbd');
if (shortcut) shortcut.textContent = /Mac|iP/.test(navigator.platform) ? '⌘K' : 'Ctrl K';
document.addEventListener('keydown', (event) => {
  if (event.key.toLowerCase() !== 'k' || !(event.metaKey || event.ctrlKey) || event.shiftKey || event.altKey) return;
  const link = document.querySelector('[data-jump]');
  if (!link) return;
  event.preventDefault();
  link.click();
});
// A menu closes as people expect: by Escape, which gives the focus back to its button, and when they are elsewhere.
document.addEventListener('keydown', (event) => {
  const menu = event.key === 'Escape' && !event.defaultPrevented && event.target.closest('.menu[open]');
  if (!menu) return;
  menu.open = false;
  menu.querySelector('summary').focus();
});
for (const kind of ['click', 'focusin']) {
  document.addEventListener(kind, ({ target }) => {
    document.querySelectorAll('.menu[open]').forEach((menu) => { if (!menu.contains(target)) menu.open = false; });
  });
}
document.addEventListener('keydown', (event) => {
  if (event.key !== '?' || event.metaKey || event.ctrlKey || event.altKey || event.isComposing) return;
  if (event.target.closest('input, textarea, select, [contenteditable]') || document.querySelector('dialog[open]')) return;
  if (!document.querySelector('[data-jump]')) return;
  event.preventDefault();
  import('./shortcuts.js').then(({ showShortcuts }) => showShortcuts());
});
