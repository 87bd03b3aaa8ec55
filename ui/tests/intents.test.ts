import { expect, test } from 'vitest';
import { IntentBus } from '../src/state/intents';

test('an intent opens its widget and is handled there', () => {
  const intents = new IntentBus();
  const received: string[] = [];
  intents.opens('orderEvents', () => received.push('opened'));
  intents.on('orderEvents', (intId) => received.push(intId));
  intents.emit('orderEvents', 'ALPHA-1');
  expect(received).toEqual(['opened', 'ALPHA-1']);
});

test('a widget that had to be opened first still receives the intent, once', () => {
  const intents = new IntentBus();
  const received: string[] = [];
  intents.emit('orderEvents', 'ALPHA-1');
  intents.emit('orderEvents', 'ALPHA-2');
  const stop = intents.on('orderEvents', (intId) => received.push(`first ${intId}`));
  stop();
  intents.on('orderEvents', (intId) => received.push(`second ${intId}`));
  expect(received).toEqual(['first ALPHA-2']);
});
