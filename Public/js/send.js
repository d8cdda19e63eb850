// The send form. The preview and the suggestions come with the first sign of a person: a blank form needs neither.

import { isChanged } from './changes.js';
import { startDrafts } from './drafts.js';
import { startLanguages } from './languages.js';
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
startLanguages();
// A draft that comes back is such a sign.
startDrafts();
