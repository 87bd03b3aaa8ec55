import { beforeEach, describe, expect, it } from 'vitest';
import { Connection, RENEWED_AFTER_MS, SILENT_AFTER_MS } from '../../src/state/connection';
import { VirtualClock, VirtualFeed } from '../virtual';

const SECOND = 1_000;

let feed: VirtualFeed;
let clock: VirtualClock;
let connection: Connection;

const link = () => connection.state.get().link;

/** The server sends a heart-beat every two seconds. */
function beatFor(ms: number): void {
  for (let passed = 0; passed < ms; passed += 2 * SECOND) {
    clock.advance(2 * SECOND);
    feed.beat();
  }
}

beforeEach(() => {
  [feed, clock] = [new VirtualFeed(), new VirtualClock()];
  connection = new Connection(feed, clock);
  feed.up();
});

describe('a connection', () => {
  it('lives on heart-beats alone', () => {
    beatFor(60 * SECOND);
    expect([link(), feed.renewals]).toEqual(['live', 0]);
  });

  it('lags when no message arrives, and is live again with the next heart-beat', () => {
    clock.advance(SILENT_AFTER_MS - SECOND);
    expect(link()).toBe('live');
    clock.advance(SECOND);
    expect(link()).toBe('lagging');
    feed.beat();
    clock.advance(SECOND);
    expect([link(), feed.renewals]).toEqual(['live', 0]);
  });

  it('is given up after a long silence', () => {
    clock.advance(RENEWED_AFTER_MS - SECOND);
    expect(feed.renewals).toBe(0);
    clock.advance(SECOND);
    expect(feed.renewals).toBe(1);
    feed.down();
    clock.advance(60 * SECOND);
    expect([link(), feed.renewals]).toEqual(['offline', 1]);
    feed.up();
    expect(link()).toBe('live');
  });

  it('is not blamed for the pause of a hidden tab', () => {
    beatFor(10 * SECOND);
    clock.freeze(10 * 60 * SECOND);
    clock.advance(SECOND);
    expect([link(), feed.renewals]).toEqual(['live', 0]);
    feed.beat();
    clock.advance(SECOND);
    expect(link()).toBe('live');
  });

  it('is suspect from a call without an answer until the server sends something', () => {
    connection.suspect();
    expect(link()).toBe('lagging');
    clock.advance(2 * SECOND);
    expect(link()).toBe('lagging');
    feed.beat();
    clock.advance(SECOND);
    expect(link()).toBe('live');
  });

  it('stays away while it is away, whatever calls say', () => {
    feed.down();
    connection.suspect();
    expect(link()).toBe('offline');
  });

  it('blames the browser where its own timers come late, and the server where it is silent', () => {
    const lag = () => [link(), connection.state.get().isStarved];
    connection.onTick(clock.now());
    clock.advance(SECOND);
    clock.freeze(4 * SECOND);
    feed.beat();
    connection.onTick(clock.now() - 4 * SECOND);
    clock.advance(SECOND);
    expect(lag()).toEqual(['lagging', true]);
    feed.beat();
    connection.onTick(clock.now());
    clock.advance(SECOND);
    expect(lag()).toEqual(['live', false]);
    clock.advance(SILENT_AFTER_MS);
    expect(lag()).toEqual(['lagging', false]);
  });
});
