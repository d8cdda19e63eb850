// Reloads a page whose work goes on, as its <noscript> does without a script.

import { reload } from './refresh.js';

setTimeout(reload, 2000);
