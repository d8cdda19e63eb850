// A page that leaves with the end of its session.

import { isChanged } from './changes.js';
import { base } from './page.js';

/**
 * Gives the server what somebody began to type, for the next sign-in; the send form keeps its own. `own` makes a path
 * one of the console. Returns the address that shows it again.
 */
export async function keep(own) {
  const form = [...document.querySelectorAll('form[method=post]:not([data-preview])')]
    .find((one) => [...one.elements].some((field) => !['password', 'file'].includes(field.type) && isChanged(field)));
  if (!form) return undefined;
  try {
    const fields = [...new FormData(form)].filter(([, value]) => typeof value === 'string');
    const place = new URLSearchParams({
      page: own(location.pathname) + location.search, action: own(form.getAttribute('action')),
    });
    const answer = await fetch(`${base}/session/kept?${place}`, {
      method: 'POST', body: new URLSearchParams(fields), credentials: 'same-origin',
    });
    return (await answer.json()).page ?? undefined;
  } catch {
    return undefined;
  }
}
