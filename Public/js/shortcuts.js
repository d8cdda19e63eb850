// The list of keyboard shortcuts: a section of the search page, shown in a dialog.

import { base } from './page.js';
import { fetchPage } from './refresh.js';

const page = `${base}/search`;

/** Opens the list; without an answer, its page. */
export async function showShortcuts() {
  if (document.getElementById('shortcuts')) {
    location.hash = 'shortcuts';
    return;
  }
  const list = await fetchPage(page).then((found) => found.querySelector('#shortcuts')).catch(() => null);
  if (!list) {
    location.assign(`${page}#shortcuts`);
    return;
  }
  const dialog = document.createElement('dialog');
  dialog.className = 'shortcuts';
  dialog.setAttribute('aria-labelledby', 'shortcuts-title');
  dialog.append(document.adoptNode(list));
  dialog.addEventListener('close', () => dialog.remove());
  // A click beside it closes it.
  dialog.addEventListener('click', (event) => { if (event.target === dialog) dialog.close(); });
  document.body.append(dialog);
  dialog.showModal();
}
