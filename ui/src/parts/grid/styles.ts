/**
 * The grid library writes its styles as `<style>` elements, which our content security policy refuses. It is given a
 * container outside the document instead, and what it writes there is adopted as one constructed sheet.
 */

const container = document.createElement('div');
const sheet = new CSSStyleSheet();
let adopted = false;

/** The place for the library's styles; the first call begins to adopt what is written there. */
export function styleContainer(): HTMLElement {
  if (!adopted) {
    adopted = true;
    document.adoptedStyleSheets.push(sheet);
    new MutationObserver(adoptStyles).observe(container, { childList: true });
  }
  return container;
}

function adoptStyles(): void {
  const written = [...container.querySelectorAll('style')].map((style) => style.textContent ?? '');
  sheet.replaceSync(written.join('\n'));
}
