// The page of a push that waits or runs.

import './countdown.js';
import './filter.js';
import './progress.js';
import './receipts.js';
