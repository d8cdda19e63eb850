// What several modules need: the path of the console, a word said aloud, and a pause before something is done.

/** What the paths of this console begin with, behind a proxy that serves it below a path; else empty. */
export const base = document.body.dataset.base ?? '';

/** Says `text` through one polite live region, for what the eye sees change but a screen reader would not. */
export function announce(text) {
  if (!voice) {
    voice = Object.assign(document.createElement('p'), { className: 'vh' });
    voice.setAttribute('role', 'status');
    document.body.append(voice);
  }
  // The same text twice is no change, and is not read out: empty it first.
  voice.textContent = '';
  clearTimeout(speaking);
  speaking = setTimeout(() => { voice.textContent = text; }, 50);
}

/** Calls `action` once `delay` ms have passed without another call. */
export function debounced(action, delay = 300) {
  let timer;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(action, delay);
  };
}

let voice, speaking;
