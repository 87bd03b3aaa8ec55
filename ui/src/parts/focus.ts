/** Restores the focus after a dialog or menu to the element that had it. */

/** The part of an element that this needs. */
export interface Place {
  readonly isConnected: boolean;
  readonly parentElement: Place | null;
  focus(): void;
}

/** The element that has the focus, and those around it from the inside out. */
export function trailOf(focused: Place | null): Place[] {
  const trail: Place[] = [];
  for (let place = focused; place !== null; place = place.parentElement) trail.push(place);
  return trail;
}

/** The element may have been removed meanwhile: then the nearest enclosing element that can have the focus gets it. */
export function giveBack(trail: readonly Place[], focused: () => Place | null): void {
  for (const place of trail) {
    if (!place.isConnected) continue;
    place.focus();
    if (focused() === place) return;
  }
}
