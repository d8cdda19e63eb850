// The console's script. Every page works without it; each part starts only where its elements are.

import { listenForCopies, showCopyButtons } from './copy.js';
import { countDown } from './countdown.js';
import { startDrafts } from './drafts.js';
import { startFilters } from './filter.js';
import { followPhones } from './phones.js';
import { startPreview } from './preview.js';
import { followProgress } from './progress.js';
import { keepTimes, showTimes } from './times.js';
import { presetZone } from './zone.js';
import { startUpload } from './upload.js';

showTimes();
keepTimes();
showCopyButtons();
listenForCopies();
document.addEventListener('refreshed', ({ target }) => {
  showTimes(target);
  showCopyButtons(target);
});
startFilters();
startUpload();
followProgress();
followPhones();
countDown();
// Before anything compares the form with what it was.
presetZone();
// The preview listens before a draft comes back: it then shows the draft.
startPreview();
startDrafts();
