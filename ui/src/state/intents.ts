/** Intent bus: intents from one widget, or the keyboard, to another widget. */

import type { IntentMap, Intents, Stop } from './api';

type Run = (value: never) => void;

export class IntentBus implements Intents {
  private readonly runs = new Map<keyof IntentMap, Set<Run>>();
  private readonly openers = new Map<keyof IntentMap, () => void>();
  private readonly waiting = new Map<keyof IntentMap, unknown>();

  emit<Name extends keyof IntentMap>(name: Name, value: IntentMap[Name]): void {
    const runs = [...(this.runs.get(name) ?? [])];
    if (runs.length === 0) this.waiting.set(name, value);
    this.openers.get(name)?.();
    for (const run of runs) (run as (value: IntentMap[Name]) => void)(value);
  }

  on<Name extends keyof IntentMap>(name: Name, run: (value: IntentMap[Name]) => void): Stop {
    const runs = this.runs.get(name) ?? new Set<Run>();
    runs.add(run as Run);
    this.runs.set(name, runs);
    if (this.waiting.has(name)) run(this.waiting.get(name) as IntentMap[Name]);
    this.waiting.delete(name);
    return () => runs.delete(run as Run);
  }

  opens(name: keyof IntentMap, open: () => void): Stop {
    this.openers.set(name, open);
    return () => this.openers.delete(name);
  }
}
