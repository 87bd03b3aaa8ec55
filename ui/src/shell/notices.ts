/** Signs of the kinds of notices, beside their colours. */

import type { NoticeKind } from '../state/api';

const SIGNS: Record<NoticeKind, string> = {
  fill: '✓',
  success: '✓',
  reject: '✕',
  error: '!',
  warning: '▲',
  info: 'i',
};

export function signOf(kind: NoticeKind): string {
  return SIGNS[kind];
}
