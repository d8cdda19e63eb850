// The send form. The preview, the suggestions and the rows of languages come with the first sign of a person: a blank
// form needs none of them.

import { isChanged } from './changes.js';
import { startDrafts } from './drafts.js';
import { presetZone } from './zone.js';

const form = document.querySelector('form[data-preview]');
const signs = ['focusin', 'pointerdown', 'input', 'change'];

function compose() {
  signs.forEach((sign) => form.removeEventListener(sign, compose));
  import('./compose.js');
}

// Before anything compares the form with what it was.
presetZone();
if (form) {
  signs.forEach((sign) => form.addEventListener(sign, compose));
  // With an error, or of a push that is sent again: its checks are shown from the start.
  if (!('fresh' in form.dataset)) compose();
  // Going back, the browser fills fields by itself and tells nobody.
  addEventListener('pageshow', () => { if ([...form.elements].some(isChanged)) compose(); });
}
// A draft that comes back is such a sign.
startDrafts();
