/** What the screen reads of the server's metrics: when the books were last compared with those of each venue. */

import type { Comparison } from './types';

const LINE = /^rialto_reconcile_lag_seconds\{([^}]*)\} (\S+)$/gm;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;

export function comparisonsIn(metrics: string): Comparison[] {
  return [...metrics.matchAll(LINE)].map(([, labels = '', seconds]) => {
    const named = new Map([...labels.matchAll(LABEL)].map(([, name = '', value = '']) => [name, value]));
    return { adapter: named.get('adapter') ?? '', scope: named.get('scope') ?? '', lagSeconds: Number(seconds) };
  });
}
