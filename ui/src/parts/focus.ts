/** Whatever takes the focus away for a while gives it back where it was. */

/** As much of an element as that needs. */
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

/** A row may have gone meanwhile, or its button: then the nearest around it that takes the focus has it. */
export function giveBack(trail: readonly Place[], focused: () => Place | null): void {
  for (const place of trail) {
    if (!place.isConnected) continue;
    place.focus();
    if (focused() === place) return;
  }
}
