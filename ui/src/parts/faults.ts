/** Focus after a rejected form: the first field with a fault. */

import { tick } from 'svelte';

export async function focusFault(form: HTMLElement | null | undefined): Promise<void> {
  await tick();
  form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus();
}
