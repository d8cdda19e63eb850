// The page of a push that is over.

import './filter.js';
import './receipts.js';
