/** Notifications: a bounded list, newest first. A burst of fills is painted once a frame. */

import type { Clock, Notice, NoticeKind, Notifications as NotificationsApi } from './api';
import { FrameCell } from './readable';

export const NOTICES_MAX = 200;

export class Notifications implements NotificationsApi {
  readonly all: FrameCell<readonly Notice[]>;
  private lastId = 0;

  constructor(
    private readonly clock: Clock,
    /** A failed call in the words of the screen. */
    private readonly describe: (error: unknown) => string,
  ) {
    this.all = new FrameCell<readonly Notice[]>([], clock);
  }

  /** The same id for the same matter: its toast changes where it stands. */
  raise(kind: NoticeKind, title: string, detail = '', key: string | null = null): void {
    const before = key === null ? undefined : this.all.get().find((notice) => notice.key === key);
    const notice: Notice = { id: before?.id ?? ++this.lastId, kind, title, detail, at: this.clock.now(), seen: false, key };
    this.all.update((notices) => [notice, ...notices.filter((other) => other !== before)].slice(0, NOTICES_MAX));
  }

  raiseError(title: string, error: unknown): void {
    this.raise('error', title, this.describe(error));
  }

  /** Removes the toast; the notice stays in the list. */
  dismiss(id: number): void {
    this.all.update((notices) => notices.map((notice) => (notice.id === id ? { ...notice, seen: true } : notice)));
  }

  clear(): void {
    this.all.set([]);
  }
}
