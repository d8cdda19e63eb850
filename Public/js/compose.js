// What the send form needs once somebody is at it.

import { startLanguages } from './languages.js';
import './picker.js';
import { startPreview } from './preview.js';

// The phones get their wallpapers.
document.querySelector('form[data-preview]')?.classList.add('begun');
startLanguages();
startPreview();
