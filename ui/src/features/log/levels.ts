/** Log lines without the hidden levels. */

import type { RowSource } from '../../parts/grid/types';
import type { LogLine } from '../../state/api';
import type { LogLevel } from '../../wire/types';

export function onlyLevels(lines: RowSource<LogLine>, without: readonly LogLevel[]): RowSource<LogLine> {
  const fits = (line: LogLine): boolean => !without.includes(line.level);
  return {
    watch: (listener) =>
      lines.watch(({ reset, upserted, removed }) =>
        listener({ reset, upserted: upserted.filter(fits), removed: removed.filter(fits) }),
      ),
  };
}
