// Places, lists and cancels an order with types that were generated from the server's own description:
//
//   npm ci
//   npx openapi-typescript http://localhost:9090/openapi.json -o rialto.d.ts
//   npx tsc && node trade.js http://localhost:9090

import createClient from 'openapi-fetch';

import type { components, paths } from './rialto.js';

type Order = components['schemas']['OrderVO'];

const server = process.argv[2] ?? 'http://localhost:9090';
// Lists come as CSV too; only what is JSON is asked for here.
const client = createClient<paths, `application/${string}`>({ baseUrl: server });

const order = { intId: 'generated-typescript', securityId: 1, side: 'BUY', quantity: 10, limit: 200 } as const;
const placed = await client.POST('/rest/execution/order/limit', { body: order });
console.log('placed', placed.response.status, placed.response.headers.get('location'));

const open = await client.GET('/rest/execution/order', {});
for (const known of open.data ?? []) console.log('open', known.intId, known.side, known.quantity, limitOf(known));

const again = await client.POST('/rest/execution/order/limit', { body: order });
console.log('refused', again.error?.status, again.error?.code, again.error?.order?.intId);

const wrong = await client.POST('/rest/execution/order/limit', { body: { ...order, intId: 'another', quantity: -10 } });
console.log('refused', wrong.error?.status, wrong.error?.code, wrong.error?.errors?.map(({ field }) => field).join());

const path = { intId: order.intId };
const cancelled = await client.DELETE('/rest/execution/order/{intId}', { params: { path } });
console.log('cancelled', cancelled.response.status);

/** Which keys an order has is told by its type. */
function limitOf(known: Order): number | null {
  switch (known.objectType) {
    case 'LimitOrder':
    case 'StopLimitOrder':
      return known.limit;
    default:
      return null;
  }
}
