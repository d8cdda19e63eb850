// The send form's draft ends with the form's sending, and with the session, on whatever page that happens.

/** Where this tab keeps it. */
export const key = 'signalbox.draft';

let forgotten = false;

/** Whether it was forgotten on this very page, which must not write it again while it is left. */
export const isForgotten = () => forgotten;

/** Forgets the draft when a push is sent or somebody signs out: the next person at this browser must not find it. */
export function forgetDrafts() {
  document.addEventListener('submit', (event) => {
    // "Back to editing" is neither.
    const sent = event.target.matches('form[data-draft-done]') && !event.submitter?.hasAttribute('formaction');
    if (!sent && !event.target.matches('form[action$="/session/end"]')) return;
    forgetNow();
  });
}

/** Forgets the draft of this tab, and what this page would still write. */
export function forgetNow() {
  forgotten = true;
  try {
    sessionStorage.removeItem(key);
  } catch {
    // Storage is forbidden: then there are no drafts.
  }
}
