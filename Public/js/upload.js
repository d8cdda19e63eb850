// A certificate file that is dropped or chosen is looked at before it is kept: the server says what it is, or why not.

/** Follows the form with data-upload. */
function start() {
  const form = document.querySelector('form[data-upload]');
  const place = document.querySelector('[data-upload-preview]');
  const input = form?.elements.file;
  if (!input || !place) return;
  const drop = form.querySelector('.drop');
  let running;
  const look = async () => {
    running?.abort();
    if (!input.files.length) return place.replaceChildren();
    running = new AbortController();
    const found = await ask(form, running.signal);
    if (found) place.replaceChildren(document.importNode(found, true));
  };
  for (const name of ['file', 'password', 'take']) form.elements[name].addEventListener('change', look);
  for (const event of ['dragover', 'drop']) {
    form.addEventListener(event, (dragged) => {
      if (!dragged.dataTransfer.types.includes('Files')) return;
      dragged.preventDefault();
      drop?.classList.toggle('over', event === 'dragover');
      if (event === 'drop' && dragged.dataTransfer.files.length) {
        input.files = dragged.dataTransfer.files;
        look();
      }
    });
  }
  form.addEventListener('dragleave', () => drop?.classList.remove('over'));
}

/** What is in the file, or the reason, out of the page that the button would lead to. Nothing is kept. */
async function ask(form, signal) {
  const body = new FormData(form);
  body.set('action', 'look');
  try {
    const answer = await fetch(form.getAttribute('action'), { method: 'POST', body, signal, credentials: 'same-origin' });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    return page.querySelector('[data-inspected]')
      ?? page.querySelector('form[data-upload] :is(.callout.red, [data-question])');
  } catch {
    return undefined;
  }
}

start();
