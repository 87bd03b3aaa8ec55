/** What the screen reads of the server's metrics: when the books were last compared with those of each venue. */

/** How old the state of a venue is that the books here were last compared with. */
export interface Comparison {
  adapter: string;
  /** What was compared: `open-orders`, `fills`, `statement`. */
  scope: string;
  lagSeconds: number;
}

const LINE = /^rialto_reconcile_lag_seconds\{([^}]*)\} (\S+)$/gm;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function comparisonsIn(metrics: string): Comparison[] {
  return [...metrics.matchAll(LINE)].map(([, labels = '', seconds]) => {
    const named = new Map([...labels.matchAll(LABEL)].map(([, name = '', value = '']) => [name, value]));
    return { adapter: named.get('adapter') ?? '', scope: named.get('scope') ?? '', lagSeconds: Number(seconds) };
  });
}
