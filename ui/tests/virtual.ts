/** Virtual clock and feed for tests: the clock moves by `advance`, the feed delivers given messages. */

import type { Clock, Stop } from '../src/state/api';
import type { Feed, Listener, Message, SubscribeOptions } from '../src/wire/feed';

interface Timer {
  at: number;
  every: number | null;
  run: () => void;
}

export class VirtualClock implements Clock {
  private time = 1_794_839_400_000;
  private timers: Timer[] = [];
  private frames: (() => void)[] = [];

  now(): number {
    return this.time;
  }

  every(ms: number, run: () => void): Stop {
    return this.add({ at: this.time + ms, every: ms, run });
  }

  after(ms: number, run: () => void): Stop {
    return this.add({ at: this.time + ms, every: null, run });
  }

  onFrame(run: () => void): Stop {
    this.frames.push(run);
    return () => {
      this.frames = this.frames.filter((frame) => frame !== run);
    };
  }

  /** Paints once. */
  frame(): void {
    const frames = this.frames;
    this.frames = [];
    for (const run of frames) run();
  }

  /** Time passes in which no timer may run, as in a hidden tab. */
  freeze(ms: number): void {
    this.time += ms;
    for (const timer of this.timers) timer.at += ms;
  }

  advance(ms: number): void {
    const end = this.time + ms;
    for (let timer = this.next(end); timer; timer = this.next(end)) {
      this.time = timer.at;
      if (timer.every === null) this.timers = this.timers.filter((other) => other !== timer);
      else timer.at += timer.every;
      timer.run();
    }
    this.time = end;
  }

  private next(end: number): Timer | undefined {
    return this.timers.filter((timer) => timer.at <= end).sort((one, other) => one.at - other.at)[0];
  }

  private add(timer: Timer): Stop {
    this.timers.push(timer);
    return () => {
      this.timers = this.timers.filter((other) => other !== timer);
    };
  }
}

interface Subscribed {
  topic: string;
  listener: Listener;
  options: SubscribeOptions;
}

export class VirtualFeed implements Feed {
  isStarted = false;
  subscribed: Subscribed[] = [];
  private links: ((isUp: boolean) => void)[] = [];
  private messageListeners: ((message: Message) => void)[] = [];
  private pulses: (() => void)[] = [];
  renewals = 0;

  start(): void {
    this.isStarted = true;
  }

  stop(): void {
    this.isStarted = false;
  }

  subscribe(topic: string, listener: Listener, options: SubscribeOptions = {}): Stop {
    const subscribed = { topic, listener, options };
    this.subscribed.push(subscribed);
    return () => {
      this.subscribed = this.subscribed.filter((other) => other !== subscribed);
    };
  }

  onLink(listener: (isUp: boolean) => void): Stop {
    this.links.push(listener);
    return () => undefined;
  }

  onMessage(listener: (message: Message) => void): Stop {
    this.messageListeners.push(listener);
    return () => undefined;
  }

  onPulse(listener: () => void): Stop {
    this.pulses.push(listener);
    return () => undefined;
  }

  hurry(): void {}

  renew(): void {
    this.renewals += 1;
  }

  /** The server sends a heart-beat. */
  beat(): void {
    for (const pulse of this.pulses) pulse();
  }

  topics(): string[] {
    return this.subscribed.map(({ topic }) => topic);
  }

  /** The connection is up, and the server has every subscription. */
  up(): void {
    for (const link of this.links) link(true);
    for (const { listener } of this.subscribed) listener.ready?.();
  }

  down(): void {
    for (const link of this.links) link(false);
  }

  deliver(topic: string, sequence: number, value: unknown, more: Partial<Message> = {}): void {
    const message = { body: JSON.stringify(value), sequence, isSnapshot: false, conflated: 0, ...more };
    this.beat();
    for (const listener of this.messageListeners) listener(message);
    for (const { listener } of this.subscribed.filter((one) => one.topic === topic)) listener.message(message);
  }
}

/** A promise that the test settles. */
export class Later<T> {
  readonly promise: Promise<T>;
  resolve: (value: T) => void = () => undefined;
  reject: (error: unknown) => void = () => undefined;

  constructor() {
    this.promise = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
  }
}

/** Lets promises that are settled run what waits for them. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
