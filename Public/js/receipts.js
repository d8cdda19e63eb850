// The result page: what apps report of the push, as it comes in.

import { listen } from './events.js';

document.querySelectorAll('[data-receipts]').forEach((panel) => {
  listen(panel.dataset.receipts, 'receipts', (text) => {
    const news = JSON.parse(text);
    for (const element of document.querySelectorAll('[data-receipt]')) {
      const value = news[element.dataset.receipt];
      if (value === undefined) continue;
      if (element.tagName === 'rect') element.setAttribute('width', value);
      else if (element.textContent !== value) element.textContent = value;
    }
  });
});
