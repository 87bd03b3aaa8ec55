import { expect, test } from 'vitest';
import { comparisonsIn } from '../src/wire/metrics';

test('the metrics tell when each venue was last compared', () => {
  const metrics = [
    '# HELP rialto_reconcile_lag_seconds Age of the state that our orders and fills were last compared with.',
    '# TYPE rialto_reconcile_lag_seconds gauge',
    'rialto_reconcile_lag_seconds{adapter="SIMULATED-ALPHA",scope="open-orders"} 12',
    'rialto_reconcile_lag_seconds{adapter="SIMULATED-ALPHA",scope="fills"} 0',
    'rialto_open_orders{adapter="SIMULATED-ALPHA"} 7',
    '# EOF',
  ].join('\n');
  expect(comparisonsIn(metrics)).toEqual([
    { adapter: 'SIMULATED-ALPHA', scope: 'open-orders', lagSeconds: 12 },
    { adapter: 'SIMULATED-ALPHA', scope: 'fills', lagSeconds: 0 },
  ]);
  expect(comparisonsIn('# EOF')).toEqual([]);
});
