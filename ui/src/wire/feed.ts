/** What `state` knows of the topics: subscriptions that outlive a lost connection, and whether there is one. */

export type Stop = () => void;

export interface Message {
  /** As JSON text; decoded by whoever subscribed. */
  body: string;
  /** Of the input that caused it. */
  sequence: number;
  /** The topic's last value, not news. */
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
  /** Told at each change, `true` when the server has answered CONNECT. */
  onLink(listener: (isUp: boolean) => void): Stop;
  /** Told of every message, before its own listener. */
  onMessage(listener: (message: Message) => void): Stop;
  /** Told whenever the server is heard: a message, a receipt or a heart-beat. */
  onPulse(listener: () => void): Stop;
  /** Tries now instead of waiting for the next attempt. */
  hurry(): void;
  /** Gives up a connection on which nothing is heard, and tries for another. */
  renew(): void;
}
