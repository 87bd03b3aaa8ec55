/** Log store: the newest lines of the server's log. */

import { logEvent } from '../wire/decoders';
import type { Server } from '../wire/server';
import { topics } from '../wire/topics';
import type { LogEvent } from '../wire/types';
import { LOG_LINES_MAX, type Log, type LogLine } from './api';
import { Join, type JoinTools } from './join';
import { Rows } from './table';

/** A line that came by topic and by snapshot is among the last lines of the snapshot, this many. */
const OVERLAP = 200;

export interface LogTools extends JoinTools {
  server: Pick<Server, 'log'>;
  /** A line of level ERROR arrived on the topic. */
  onError(line: LogEvent): void;
}

export class LogLines implements Log {
  readonly lines: Rows<number, LogLine>;
  private lastId = 0;
  private overlap = new Set<string>();

  constructor(private readonly tools: LogTools) {
    this.lines = new Rows(tools.clock, (line) => line.id);
    new Join(
      {
        topic: topics.log,
        decoder: logEvent,
        // Log lines have no sequence of the engine; the overlap is found by its text.
        snapshot: async () => ({ sequence: 0, value: await tools.server.log() }),
        reset: (lines: LogEvent[]) => this.reset(lines),
        apply: (line) => this.append(line),
      },
      tools,
    );
  }

  private reset(lines: readonly LogEvent[]): void {
    this.overlap = new Set(lines.slice(-OVERLAP).map(textOf));
    this.lines.reset(lines.map((line) => this.numbered(line)));
  }

  private append(line: LogEvent): void {
    if (this.overlap.delete(textOf(line))) return;
    this.lines.upsert(this.numbered(line));
    if (line.level === 'ERROR') this.tools.onError(line);
    const [oldest] = this.lines.size() > LOG_LINES_MAX ? this.lines.get() : [];
    if (oldest) this.lines.remove(oldest.id);
  }

  private numbered(line: LogEvent): LogLine {
    return { ...line, id: ++this.lastId };
  }
}

function textOf(line: LogEvent): string {
  return `${line.dateTime} ${line.level} ${line.logger} ${line.message}`;
}
