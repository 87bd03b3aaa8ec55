/** Days of a search filter as instants. */

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The first moment of a day as a date field writes it, or of the day after; `null` where none is written. */
export function startOf(day: string, zone: 'local' | 'UTC', later = 0): number | null {
  const parts = DAY.exec(day);
  if (parts === null) return null;
  const [year, month, date] = [Number(parts[1]), Number(parts[2]) - 1, Number(parts[3]) + later];
  return zone === 'UTC' ? Date.UTC(year, month, date) : new Date(year, month, date).getTime();
}
