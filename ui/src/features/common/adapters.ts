/** Which adapter an account trades by. */

import type { AccountVO, AdapterVO } from '../../wire/types';

export function isOf({ adapterType, sessionQualifier }: AccountVO, adapter: AdapterVO): boolean {
  return adapter.adapterType === adapterType && adapter.sessionQualifier === sessionQualifier;
}
