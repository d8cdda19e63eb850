// The list of certificates.

import './filter.js';
import './upload.js';
