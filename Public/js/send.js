// The send form.

import { startDrafts } from './drafts.js';
import { startLanguages } from './languages.js';
import './picker.js';
import { startPreview } from './preview.js';
import { presetZone } from './zone.js';

// Before anything compares the form with what it was.
presetZone();
// The preview listens before a draft comes back: it then shows the draft.
startPreview();
startLanguages();
startDrafts();
