/**
 * Filter line of a grid, with the syntax of the server's search: `apple` finds it in any column, `side:buy` in one,
 * `quantity>100` compares, `-done` excludes, quotes keep words together, and all parts must fit.
 */

export interface Searchable {
  /** What is shown, for words. */
  text: string;
  /** What is meant, for comparisons. */
  value: string | number | null;
}

/** A row as the filter sees it; gives nothing for a column that the grid does not have. */
export type RowView = (column: string) => Searchable | undefined;

export interface Filter {
  /** Columns named in the line that the grid does not have. */
  unknown: readonly string[];
  fits(row: RowView): boolean;
}

interface Part {
  exclude: boolean;
  column: string | null;
  compare: Compare;
  wanted: string;
}

type Compare = ':' | '>' | '<' | '>=' | '<=';

const PART = /(-?)(?:([\p{L}][\p{L}\p{N}/-]*)(>=|<=|[:=<>]))?("[^"]*"?|[^\s"]+)/gu;

/** Reads a filter line for a grid with these columns; an empty line fits every row. */
export function parseFilter(line: string, columns: readonly string[]): Filter {
  const names = new Map(columns.map((column) => [plain(column), column]));
  const parts = [...line.matchAll(PART)].map((match) => partOf(match, names));
  const unknown = parts.flatMap((part) => (part.column && !columns.includes(part.column) ? [part.column] : []));
  return { unknown, fits: (row) => parts.every((part) => fitsPart(part, row, columns) !== part.exclude) };
}

function partOf(match: RegExpMatchArray, names: ReadonlyMap<string, string>): Part {
  const [, minus = '', name, sign = ':', word = ''] = match;
  return {
    exclude: minus === '-',
    column: name === undefined ? null : (names.get(plain(name)) ?? name),
    compare: (sign === '=' ? ':' : sign) as Compare,
    wanted: plain(word.replaceAll('"', '')),
  };
}

function fitsPart(part: Part, row: RowView, columns: readonly string[]): boolean {
  if (part.column === null) return columns.some((column) => contains(row(column), part.wanted));
  const cell = row(part.column);
  return part.compare === ':' ? contains(cell, part.wanted) : compares(cell, part.compare, Number(part.wanted));
}

function contains(cell: Searchable | undefined, wanted: string): boolean {
  return cell !== undefined && plain(cell.text).includes(wanted);
}

function compares(cell: Searchable | undefined, compare: Compare, wanted: number): boolean {
  if (typeof cell?.value !== 'number' || Number.isNaN(wanted)) return false;
  switch (compare) {
    case '>':
      return cell.value > wanted;
    case '<':
      return cell.value < wanted;
    case '>=':
      return cell.value >= wanted;
    case '<=':
      return cell.value <= wanted;
    case ':':
      return cell.value === wanted;
  }
}

function plain(text: string): string {
  return text.toLowerCase();
}
