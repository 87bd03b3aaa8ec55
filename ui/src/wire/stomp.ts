/** STOMP feed over a WebSocket, by @stomp/stompjs. */

import { Client, type IMessage, type StompSubscription } from '@stomp/stompjs';
import type { Feed, Listener, Message, Stop, SubscribeOptions } from './feed';

const RECONNECT_AFTER_MS = 1_000;
/** Interval of the server's heart-beats. */
const HEARTBEAT_INCOMING_MS = 2_000;
/** Silence is judged by `Connection`, which knows of hidden tabs; the library does not. */
const HEARTBEATS_MISSED_MAX = Number.POSITIVE_INFINITY;
/**
 * The screen's heart-beats are rare, because browsers let the timers of a hidden tab fire only once a minute, and the server would
 * take that for a lost connection. The server pings the socket itself, which the browser answers without a timer.
 */
const HEARTBEAT_OUTGOING_MS = 120_000;
const CONNECT_TIMEOUT_MS = 10_000;

interface Subscription {
  topic: string;
  listener: Listener;
  options: SubscribeOptions;
  live: StompSubscription | null;
}

export class StompFeed implements Feed {
  private readonly client: Client;
  private readonly subscriptions = new Set<Subscription>();
  private readonly linkListeners = new Set<(isUp: boolean) => void>();
  private readonly messageListeners = new Set<(message: Message) => void>();
  private readonly pulseListeners = new Set<() => void>();
  private receipts = 0;
  private isUp = false;

  constructor(url: string) {
    this.client = new Client({
      brokerURL: url,
      reconnectDelay: RECONNECT_AFTER_MS,
      connectionTimeout: CONNECT_TIMEOUT_MS,
      heartbeatIncoming: HEARTBEAT_INCOMING_MS,
      heartbeatOutgoing: HEARTBEAT_OUTGOING_MS,
      heartbeatToleranceMultiplier: HEARTBEATS_MISSED_MAX,
      // A hanging server does not answer a close either.
      discardWebsocketOnCommFailure: true,
      onConnect: () => this.connected(),
      onWebSocketClose: () => this.lost(),
      onHeartbeatReceived: () => this.pulse(),
    });
  }

  start(): void {
    this.client.activate();
  }

  /** Down at once: an unsubscribe while the socket closes must not write to it. */
  stop(): void {
    this.lost();
    void this.client.deactivate();
  }

  subscribe(topic: string, listener: Listener, options: SubscribeOptions = {}): Stop {
    const subscription: Subscription = { topic, listener, options, live: null };
    this.subscriptions.add(subscription);
    if (this.isUp) this.sendSubscribe(subscription);
    return () => {
      this.subscriptions.delete(subscription);
      if (this.isUp) subscription.live?.unsubscribe();
    };
  }

  onLink(listener: (isUp: boolean) => void): Stop {
    this.linkListeners.add(listener);
    return () => this.linkListeners.delete(listener);
  }

  onMessage(listener: (message: Message) => void): Stop {
    this.messageListeners.add(listener);
    return () => this.messageListeners.delete(listener);
  }

  onPulse(listener: () => void): Stop {
    this.pulseListeners.add(listener);
    return () => this.pulseListeners.delete(listener);
  }

  hurry(): void {
    if (this.isUp || !this.client.active) return;
    void this.client.deactivate().then(() => this.client.activate());
  }

  renew(): void {
    if (this.isUp) this.client.forceDisconnect();
  }

  private connected(): void {
    this.isUp = true;
    this.linkListeners.forEach((listener) => listener(true));
    this.subscriptions.forEach((subscription) => this.sendSubscribe(subscription));
  }

  private lost(): void {
    if (!this.isUp) return;
    this.isUp = false;
    this.linkListeners.forEach((listener) => listener(false));
  }

  private pulse(): void {
    this.pulseListeners.forEach((listener) => listener());
  }

  /** The receipt confirms the subscription: a snapshot that is requested earlier could miss an event. */
  private sendSubscribe(subscription: Subscription): void {
    const receipt = `subscribed-${++this.receipts}`;
    const headers: Record<string, string> = { receipt };
    if (subscription.options.snapshot) headers['snapshot'] = 'true';
    this.client.watchForReceipt(receipt, () => {
      this.pulse();
      if (this.subscriptions.has(subscription)) subscription.listener.ready?.();
    });
    subscription.live = this.client.subscribe(`/topic/${subscription.topic}`, (frame) => this.deliver(subscription, frame), headers);
  }

  private deliver(subscription: Subscription, frame: IMessage): void {
    this.pulse();
    const { sequence, snapshot, conflated } = frame.headers;
    const message: Message = {
      body: frame.body,
      sequence: Number(sequence ?? 0),
      isSnapshot: snapshot === 'true',
      conflated: Number(conflated ?? 0),
    };
    this.messageListeners.forEach((listener) => listener(message));
    subscription.listener.message(message);
  }
}
