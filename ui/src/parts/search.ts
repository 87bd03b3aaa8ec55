/** Ranking of search results: the likeliest first, so that Enter chooses what was typed. */

export function ranked<T extends { symbol: string }>(found: readonly T[], query: string): T[] {
  const wanted = query.trim().toUpperCase();
  const rank = ({ symbol }: T): number => rankOf(symbol.toUpperCase(), wanted);
  return [...found].sort((one, other) => rank(one) - rank(other));
}

/** The symbol itself, its beginning, a part of it, and whatever else the server found it by. */
function rankOf(symbol: string, wanted: string): number {
  if (symbol === wanted) return 0;
  if (symbol.startsWith(wanted)) return 1;
  return symbol.includes(wanted) ? 2 : 3;
}
