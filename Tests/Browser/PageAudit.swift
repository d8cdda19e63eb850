import JSON

/// What every page must hold, checked in the page itself; each script answers with a list of complaints.
enum PageAudit {
  /// WCAG 2.2 as far as a script can see it, and no sideways scrolling.
  static let page = tools + structure + sight
  /// What is left of it for a mail; and that it is whole in itself, as far as its links lead.
  static let mail = tools + letter + sight

  private static let tools = """
    const complaints = [];
    const say = (what, element) => complaints.push(what + (element ? ': ' + element.outerHTML.slice(0, 160) : ''));
    const all = (selector) => [...document.querySelectorAll(selector)];
    const shown = (element) => element.checkVisibility({ visibilityProperty: true, opacityProperty: true });
    const byID = (id) => document.getElementById(id);

    if (!document.documentElement.lang) say('the page names no language');
    if (!document.title.trim()) say('the page has no title');
    for (const one of all('a[href], button, summary')) {
      const named = one.textContent + (one.ariaLabel ?? '') + (one.querySelector('img')?.alt ?? '');
      if (!named.trim()) say('a control without name', one);
    }

    """

  private static let letter = """
    for (const one of all('script, link, iframe, object, form, [src], [onclick]')) say('not for a mail', one);
    // A font for Chinese that comes before those for Latin gives English quotes the width of a character.
    const pen = new OffscreenCanvas(1, 1).getContext('2d');
    pen.font = getComputedStyle(document.querySelector('p')).font;
    if (document.documentElement.lang === 'en' && pen.measureText('“').width > pen.measureText('n').width * 1.4) {
      say(`wide quotes in ${pen.font}`);
    }
    for (const link of all('a')) if (!/^https?:/.test(link.getAttribute('href'))) say('leads nowhere', link);
    for (const table of all('table')) {
      const isForData = table.role !== 'presentation';
      if (isForData !== (table.querySelector(':scope > * > tr > th[scope]') !== null)) say('data or not?', table);
    }

    """

  private static let structure = """
    if (all('h1').length !== 1) say(`${all('h1').length} h1`);
    if (all('main').length !== 1) say(`${all('main').length} main`);
    let level = 0;
    for (const heading of all('main :is(h1, h2, h3, h4)')) {
      const now = Number(heading.localName[1]);
      if (now > level + 1) say('a level of headings is left out', heading);
      if (!heading.textContent.trim()) say('empty heading', heading);
      level = now;
    }

    const ids = all('[id]').map((element) => element.id);
    for (const id of new Set(ids.filter((id, place) => ids.indexOf(id) !== place))) say(`the id ${id} is there twice`);
    for (const name of ['aria-labelledby', 'aria-describedby', 'aria-controls']) {
      for (const element of all(`[${name}]`)) {
        const missing = element.getAttribute(name).split(/ +/).filter((id) => !byID(id));
        if (missing.length) say(`${name} leads to nothing`, element);
      }
    }
    for (const field of all('input:not([type=hidden], [hidden]), select, textarea')) {
      const labels = [...field.labels].map((label) => label.textContent).join('') + (field.ariaLabel ?? '');
      if (!labels.trim()) say('a field without label', field);
    }
    for (const group of all('fieldset')) {
      if (!group.querySelector(':scope > legend')?.textContent.trim()) say('a group without legend', group);
    }
    for (const picture of all('img:not([alt]), svg[role=img]:not([aria-label])')) say('a picture without text', picture);
    for (const table of all('table')) {
      if (!table.tHead?.querySelector('th')) say('a table without heads', table);
      if (!table.caption && !table.ariaLabel && !table.closest('details')) say('a table without caption', table);
      for (const head of table.querySelectorAll('th')) if (!head.scope) say('a head without scope', head);
      const width = row => [...row.cells].reduce((sum, cell) => sum + cell.colSpan, 0);
      for (const row of table.tBodies[0]?.rows ?? []) {
        if (width(row) !== width(table.tHead.rows[0])) say('a row of another width than its head', row);
      }
    }
    for (const anchor of all('a[href^="#"]')) if (!byID(anchor.hash.slice(1))) say('a link to nowhere', anchor);

    const skip = document.querySelector('a.skip');
    const first = document.querySelector('a[href], button, input, select, textarea, summary, [tabindex="0"]');
    if (!skip || skip !== first) say('the skip link is not the first stop');
    // A menu closes when the focus goes elsewhere.
    const menus = document.querySelectorAll('.menu[open]');
    skip?.focus();
    if (document.activeElement !== skip) say('the skip link takes no focus');
    const box = skip?.getBoundingClientRect();
    if (!box || box.width < 10 || box.top < 0 || box.left < 0) say('the focused skip link is not seen');
    skip?.blur();
    for (const menu of menus) menu.open = true;

    """

  private static let sight = """
    const root = document.documentElement;
    if (root.scrollWidth > innerWidth) {
      const wide = all('body *').filter((one) => shown(one) && one.getBoundingClientRect().right > innerWidth + 1
        && !one.closest('.scroll, pre'));
      say(`${root.scrollWidth} wide of ${innerWidth}`, wide.at(-1));
    }
    // The title of a row is a link as large as the row: without a frame, it would be as large as the page.
    for (const title of all('a.title').filter(shown)) {
      if (title.offsetParent?.matches('body, main, .main, .page')) say('a link that covers the page', title);
    }

    // Contrast of text on the nearest ground that is painted.
    const ink = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
    const known = new Map();
    const read = (colour, below) => {
      const key = `${colour} on ${below}`;
      if (known.has(key)) return known.get(key);
      ink.clearRect(0, 0, 1, 1);
      for (const layer of below ? [below, colour] : [colour]) {
        ink.fillStyle = layer;
        ink.fillRect(0, 0, 1, 1);
      }
      known.set(key, [...ink.getImageData(0, 0, 1, 1).data]);
      return known.get(key);
    };
    const light = ([red, green, blue]) => [red, green, blue].map((value) => value / 255)
      .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
      .reduce((sum, value, place) => sum + value * [0.2126, 0.7152, 0.0722][place], 0);
    const paper = getComputedStyle(root).colorScheme.includes('dark') ? 'black' : 'white';
    const paint = (element) => {
      const { backgroundColor, backgroundImage } = getComputedStyle(element);
      const above = element.parentElement;
      const alpha = read(backgroundColor)[3];
      if (alpha === 255) return backgroundColor;
      if (alpha > 0) {
        const [red, green, blue] = read(backgroundColor, above ? ground(above) : 'white');
        return `rgb(${red}, ${green}, ${blue})`;
      }
      if (backgroundImage !== 'none') return null;
      return above ? ground(above) : paper;
    };
    // A row's texts have their ground, and all that is above it, in common.
    const grounds = new Map();
    const ground = (element) => {
      if (!grounds.has(element)) grounds.set(element, paint(element));
      return grounds.get(element);
    };
    const seen = new Set();
    for (const element of all('body *')) {
      const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      if (!own || !shown(element) || element.closest('svg, [disabled], .vh, .skip, option')) continue;
      const style = getComputedStyle(element);
      const below = ground(element);
      if (!below) continue;
      const [one, other] = [light(read(style.color, below)), light(read(below))].sort((a, b) => b - a);
      const ratio = (one + 0.05) / (other + 0.05);
      const size = parseFloat(style.fontSize);
      const enough = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
      const key = `${style.color} on ${below}`;
      if (ratio >= enough || seen.has(key)) continue;
      seen.add(key);
      say(`contrast ${ratio.toFixed(2)} of ${key}`, element);
    }
    return complaints;
    """
}
