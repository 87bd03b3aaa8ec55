/** Feed interface: topic subscriptions that outlive a lost connection, and the state of the connection. */

export type Stop = () => void;

export interface Message {
  /** JSON text; the subscriber decodes it. */
  body: string;
  /** Sequence of the input that caused it. */
  sequence: number;
  /** The topic's last value, not a new event. */
  isSnapshot: boolean;
  /** How many older values this one replaced before it was sent. */
  conflated: number;
}

export interface Listener {
  message(message: Message): void;
  /** The server has the subscription: from now on nothing is missed. Called again after every reconnect. */
  ready?(): void;
}

export interface SubscribeOptions {
  /** First deliver the last value of each topic. */
  snapshot?: boolean;
}

export interface Feed {
  start(): void;
  stop(): void;
  subscribe(topic: string, listener: Listener, options?: SubscribeOptions): Stop;
  /** Called at each change, with `true` when the server has answered CONNECT. */
  onLink(listener: (isUp: boolean) => void): Stop;
  /** Called with every message, before the listener of its topic. */
  onMessage(listener: (message: Message) => void): Stop;
  /** Called whenever the server sends something: a message, a receipt or a heart-beat. */
  onPulse(listener: () => void): Stop;
  /** Reconnects now instead of waiting for the next attempt. */
  hurry(): void;
  /** Drops a silent connection and opens another. */
  renew(): void;
}
