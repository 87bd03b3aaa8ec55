/** After a form was not sent: the cursor goes to the first field that is wrong. */

import { tick } from 'svelte';

export async function focusFault(form: HTMLElement | null | undefined): Promise<void> {
  await tick();
  form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}
