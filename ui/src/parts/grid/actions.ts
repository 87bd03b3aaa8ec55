/** The buttons of a row. The keyboard runs the same actions on the focused row. */

import { iconElement } from '../icons';
import type { RowAction } from './types';

/** Draws the buttons once and afterwards only what may have changed: whether each can be used, and why not. */
export function paintActions<Row>(cell: HTMLElement, row: Row, actions: readonly RowAction<Row>[]): void {
  const buttons = withButton(actions);
  if (cell.childElementCount !== buttons.length) cell.replaceChildren(...buttons.map(buttonOf));
  buttons.forEach((action, index) => {
    const button = cell.children[index] as HTMLButtonElement;
    const refusal = action.refusal?.(row);
    button.ariaDisabled = refusal === undefined ? 'false' : 'true';
    button.title = refusal === undefined ? withKey(action) : `${action.label}: ${refusal}`;
    button.onclick = () => runAction(action, row);
  });
}

export function withButton<Row>(actions: readonly RowAction<Row>[]): readonly RowAction<Row>[] {
  return actions.filter((action) => action.sign !== undefined);
}

/** Runs the action that a key stands for; says whether there was one. */
export function runByKey<Row>(key: string, row: Row, actions: readonly RowAction<Row>[]): boolean {
  const action = actions.find((candidate) => candidate.key === key);
  if (action === undefined) return false;
  runAction(action, row);
  return true;
}

function runAction<Row>(action: RowAction<Row>, row: Row): void {
  if (action.refusal?.(row) === undefined) action.run(row);
}

function buttonOf<Row>(action: RowAction<Row>): HTMLButtonElement {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = action.danger ? 'row-action danger' : 'row-action';
  button.ariaLabel = action.label;
  if (action.sign !== undefined) button.append(iconElement(action.sign));
  // The arrow keys move between cells; the keys of the actions do the rest.
  button.tabIndex = -1;
  return button;
}

function withKey<Row>(action: RowAction<Row>): string {
  return action.key === undefined ? action.label : `${action.label} (${action.key})`;
}
