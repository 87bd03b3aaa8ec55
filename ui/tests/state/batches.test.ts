import { expect, test } from 'vitest';
import { Batches, PAINT_EVERY_MS } from '../../src/state/batches';
import { VirtualClock } from '../virtual';

test('what comes within a moment is painted together, and the first at once', () => {
  const clock = new VirtualClock();
  const painted: string[] = [];
  const batches = new Batches({ now: () => clock.now(), after: (ms, run) => void clock.after(ms, run), frame: (run) => void clock.onFrame(run) });
  const paint = () => {
    painted.push('|');
    clock.frame();
  };
  batches.add(() => painted.push('a'));
  paint();
  batches.add(() => painted.push('b'));
  paint();
  clock.advance(PAINT_EVERY_MS - 1);
  batches.add(() => painted.push('c'));
  const stop = batches.add(() => painted.push('never'));
  stop();
  paint();
  clock.advance(1);
  paint();
  expect(painted.join('')).toBe('|a|||bc');
});

test('one paint that fails takes no other with it', () => {
  const clock = new VirtualClock();
  const painted: string[] = [];
  const batches = new Batches({ now: () => clock.now(), after: (ms, run) => void clock.after(ms, run), frame: (run) => void clock.onFrame(run) });
  batches.add(() => painted.push('a'));
  batches.add(() => {
    throw new Error('broken');
  });
  batches.add(() => painted.push('b'));
  expect(() => clock.frame()).toThrow('broken');
  batches.add(() => painted.push('c'));
  clock.advance(PAINT_EVERY_MS);
  clock.frame();
  expect(painted).toEqual(['a', 'b', 'c']);
});
