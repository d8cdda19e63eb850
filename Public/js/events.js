// Server-Sent Events for a page in view.

/**
 * Hears `name` events of `url` and gives their text to `heard`; `lost` is called when the server ended it for good.
 * Only while the page is in view: a browser opens six HTTP/1.1 connections to one host, and six
 * forgotten tabs would otherwise leave none for the seventh. The server tells the whole state on
 * connecting, so nothing is missed. Returns a function that stops it.
 */
export function listen(url, name, heard, lost) {
  let source;
  const open = () => {
    if (source || document.hidden) return;
    source = new EventSource(url);
    source.addEventListener(name, (event) => heard(event.data));
    source.addEventListener('error', () => {
      // While it is only "connecting", the browser tries again by itself.
      if (source?.readyState !== EventSource.CLOSED) return;
      stop();
      lost?.();
    });
  };
  const close = () => {
    source?.close();
    source = undefined;
  };
  const look = () => (document.hidden ? close() : open());
  const stop = () => {
    close();
    document.removeEventListener('visibilitychange', look);
    removeEventListener('pagehide', close);
    removeEventListener('pageshow', look);
  };
  document.addEventListener('visibilitychange', look);
  // A page kept for "back" must not hold its connection, and opens a new one when it is shown again.
  addEventListener('pagehide', close);
  addEventListener('pageshow', look);
  open();
  return stop;
}
