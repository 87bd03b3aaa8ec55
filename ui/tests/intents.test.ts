import { expect, test } from 'vitest';
import { IntentBus } from '../src/state/intents';

test('a wish opens its widget and is heard there', () => {
  const intents = new IntentBus();
  const heard: string[] = [];
  intents.opens('orderEvents', () => heard.push('opened'));
  intents.on('orderEvents', (intId) => heard.push(intId));
  intents.emit('orderEvents', 'ALPHA-1');
  expect(heard).toEqual(['opened', 'ALPHA-1']);
});

test('a widget that had to be opened first still hears the wish, once', () => {
  const intents = new IntentBus();
  const heard: string[] = [];
  intents.emit('orderEvents', 'ALPHA-1');
  intents.emit('orderEvents', 'ALPHA-2');
  const stop = intents.on('orderEvents', (intId) => heard.push(`first ${intId}`));
  stop();
  intents.on('orderEvents', (intId) => heard.push(`second ${intId}`));
  expect(heard).toEqual(['first ALPHA-2']);
});
