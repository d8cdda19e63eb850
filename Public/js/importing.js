// An import shows how much of its file was read: the server registers devices while their lines arrive.

document.addEventListener('submit', (event) => {
  const form = event.target;
  if (!form.matches('[data-import]') || !form.elements.file.files.length) return;
  event.preventDefault();
  const [progress, lost] = ['progress', 'lost'].map((name) => form.querySelector(`[data-import-${name}]`));
  const button = form.querySelector('.button.primary');
  const bar = progress.querySelector('progress');
  const wait = (yes) => {
    progress.hidden = !yes;
    button.disabled = yes;
  };
  const request = new XMLHttpRequest();
  request.upload.addEventListener('progress', ({ loaded, total }) => {
    bar.value = loaded / total;
    const share = bar.value.toLocaleString(document.documentElement.lang, { style: 'percent' });
    progress.querySelector('[data-percent]').textContent = share;
  });
  const fail = () => {
    wait(false);
    lost.hidden = false;
  };
  request.addEventListener('load', () => {
    const { pathname, search } = new URL(request.responseURL);
    // Signed out meanwhile: another page has answered.
    if (pathname !== new URL(form.action).pathname) return location.assign(request.responseURL);
    // A proxy in between that refuses the file answers with a page of its own.
    if (!show(request.responseText)) return fail();
    // What the form led to has an address of its own.
    history.replaceState(null, '', pathname + search);
  });
  request.addEventListener('error', fail);
  lost.hidden = true;
  wait(true);
  request.open('POST', form.action);
  request.send(new FormData(form));
});

/** Shows the page that answered: the report, or the form with its errors. False: it is no page of the console. */
function show(text) {
  const page = new DOMParser().parseFromString(text, 'text/html');
  if (!page.querySelector('main')) return false;
  const main = document.importNode(page.querySelector('main'), true);
  document.querySelector('main').replaceWith(main);
  document.title = page.title;
  main.dispatchEvent(new CustomEvent('refreshed', { bubbles: true }));
  (main.querySelector('[autofocus]') ?? main).focus();
  scrollTo(0, 0);
  return true;
}
