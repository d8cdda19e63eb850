// The simulator's phones: what arrives is shown without a reload.

import { listen } from './events.js';
import { fetchPage, reloadWhenIdle, swap } from './page.js';

// As the server wrote it: this runs before console.js dresses times and copy buttons.
let shown = document.querySelector('#phones')?.innerHTML;

/** Keeps #phones as the server has it, for every element with data-phones. */
function start() {
  document.querySelectorAll('[data-phones]').forEach((element) => {
    listen(element.dataset.phones, 'phones', refresher(), () => setTimeout(reloadWhenIdle, 5000));
  });
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
      const region = document.querySelector('#phones');
      // The first event after connecting mostly tells nothing new, and a button must not go from under a finger.
      if (fresh && region && fresh.innerHTML !== shown) {
        shown = fresh.innerHTML;
        swap(region, fresh);
      }
    } catch {
      // The next event tries again; what is shown stays true of its moment.
    }
    busy = false;
    if (again) refresh();
  };
}

start();
