/** What a person should hear of: a bounded list, newest first. A burst of fills is painted once a frame. */

import type { Clock, Notice, NoticeKind, Notifications } from './api';
import { FrameCell } from './readable';

export const NOTICES_MAX = 200;

export class NoticeBoard implements Notifications {
  readonly all: FrameCell<readonly Notice[]>;
  private lastId = 0;

  constructor(private readonly clock: Clock) {
    this.all = new FrameCell<readonly Notice[]>([], clock);
  }

  raise(kind: NoticeKind, title: string, detail = ''): void {
    const notice: Notice = { id: ++this.lastId, kind, title, detail, at: this.clock.now(), seen: false };
    this.all.update((notices) => [notice, ...notices].slice(0, NOTICES_MAX));
  }

  raiseError(title: string, error: unknown): void {
    this.raise('error', title, error instanceof Error ? error.message : String(error));
  }

  /** It stays in the list and leaves the corner. */
  dismiss(id: number): void {
    this.all.update((notices) => notices.map((notice) => (notice.id === id ? { ...notice, seen: true } : notice)));
  }

  clear(): void {
    this.all.set([]);
  }
}
