// The list of devices.

import './choose.js';
import './filter.js';
