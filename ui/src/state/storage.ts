/** What is remembered from one visit to the next. Here: by this browser. A browser that forbids it forgets, and nothing else breaks. */

export interface Memory {
  read(key: string): unknown;
  write(key: string, value: unknown): void;
}

const PREFIX = 'rialto.';

export function memoryOf(storage: Storage): Memory {
  return {
    read(key) {
      try {
        return JSON.parse(storage.getItem(PREFIX + key) ?? 'null');
      } catch {
        return null;
      }
    },
    write(key, value) {
      try {
        storage.setItem(PREFIX + key, JSON.stringify(value));
      } catch {
        // A full or forbidden storage costs the memory, not the session.
      }
    },
  };
}
