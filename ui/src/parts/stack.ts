/** Toolbar in the header of a stack of panels: controls of the visible widget stand beside the tabs, and not in a second line. */

/** Where the dock makes room for it, in the header of each stack. */
export const STACK_TOOLS = 'stack-tools';
/** Event on the element of a widget that was moved into another stack. */
export const REGROUPED = 'regrouped';

/** An action: moves the element there while its widget is in sight. Outside of a dock it stays where it is. */
export function inStack(node: HTMLElement): { destroy(): void } {
  const anchor = document.createComment('');
  node.before(anchor);
  const widget = anchor.parentElement?.closest('.widget') ?? null;
  const place = (): void => {
    anchor.parentElement?.closest('.dv-groupview')?.querySelector(`.${STACK_TOOLS}`)?.append(node);
  };
  place();
  widget?.addEventListener(REGROUPED, place);
  return {
    destroy() {
      widget?.removeEventListener(REGROUPED, place);
      node.remove();
      anchor.remove();
    },
  };
}
