/** Browser storage: values kept from one visit to the next. Where the browser forbids storage, values are lost and nothing else fails. */

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
        // A full or forbidden storage loses the value, but must not fail the session.
      }
    },
  };
}
