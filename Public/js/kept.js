// What somebody began to type when the session ended is kept by the server until the next sign-in.

import { isChanged } from './changes.js';
import { base } from './page.js';

/** Hands the form over; answers the path that shows it again, or nothing. The send form keeps its own. */
export async function keep() {
  const form = [...document.querySelectorAll('form[method=post]:not([data-preview])')]
    .find((one) => [...one.elements].some((field) => !['password', 'file'].includes(field.type) && isChanged(field)));
  if (!form) return undefined;
  const fields = [...new FormData(form)].filter(([, value]) => typeof value === 'string');
  const place = new URLSearchParams({
    page: own(location.pathname) + location.search, action: own(form.getAttribute('action')),
  });
  const answer = await fetch(`${base}/session/kept?${place}`, {
    method: 'POST', body: new URLSearchParams(fields), credentials: 'same-origin',
  });
  return (await answer.json()).page ?? undefined;
}

// A path as the console knows it, which may be served below another one.
function own(path) { return path.slice(base.length); }
