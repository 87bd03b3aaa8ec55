/** The server's search, in the form in which the search box shows what it found. */

import type { Found } from '../../parts/SecuritySearch.svelte';
import type { Reference } from '../../state/api';
import type { Messages } from '../../state/messages';

export function finderIn(reference: Reference, messages: Messages): (query: string) => Promise<readonly Found[]> {
  return async (query) => {
    const securities = await reference.search(query).catch((error: unknown) => {
      throw new Error(messages.error(error));
    });
    return securities.map(({ id, symbol, description, objectType, exchangeId }) => ({
      id,
      symbol,
      description: description ?? '',
      detail: `${objectType} · ${reference.exchangeCode(exchangeId)}`,
    }));
  };
}
