/** The application: creates all stores in the order of their dependencies and follows the connection. */

import { formatsOf } from '../texts/formats';
import type { Feed } from '../wire/feed';
import type { Server } from '../wire/server';
import { Session } from './access';
import { administrationOf } from './administration';
import type { Clock, Fill, Stores } from './api';
import { LiveBars } from './bars';
import { BreakList } from './breaks';
import { ClusterStore } from './cluster';
import { Connection } from './connection';
import type { AppContext } from './context';
import { Book, Tape } from './depth';
import { Notifier } from './notifier';
import { IntentBus } from './intents';
import { Languages } from './languages';
import { LogLines } from './log';
import { MarketPrices } from './market';
import { Messages } from './messages';
import { Notifications } from './notifications';
import { OrderBlotter } from './orders';
import { PortfolioStore } from './portfolio';
import { Preferences } from './preferences';
import { derive } from './readable';
import { ReferenceData } from './reference';
import { RiskStore } from './risk';
import { OrderFinder } from './search';
import { rememberedSelection } from './selection';
import { SessionList } from './sessions';
import { shownOrders } from './shown';
import { rememberedSettings } from './settings';
import type { Memory } from './storage';
import { StrategyList } from './strategies';
import { TradingStore } from './trading';

const RETRY_AFTER_MS = 2_000;

export interface ApplicationTools {
  server: Server;
  feed: Feed;
  clock: Clock;
  memory: Memory;
  /** The browser's preferred language, for a user who has not chosen one. */
  language: 'en' | 'de';
}

export interface Application extends AppContext {
  access: Session;
  /** Resolves when the texts of the chosen language are loaded. */
  whenLoaded(): Promise<void>;
  /** Writes preferences that are not written yet. */
  flush(): Promise<void>;
  /** A call got no answer. */
  suspect(): void;
}

export function createApplication({ server, feed, clock, memory, language }: ApplicationTools): Application {
  const onRefused = (error: unknown) => notifier.trouble(error);
  const preferences = new Preferences({ server, clock, browser: memory, onRefused });
  const settings = rememberedSettings(preferences, { language });
  // The description of the interface is a page of its own that knows no user: it looks as the screen does.
  settings.subscribe(({ theme }) => memory.write('settings', { theme }));
  const languages = new Languages({ clock, settings });
  const { texts } = languages;
  const formats = derive([settings], (chosen) => formatsOf(chosen, () => clock.now()));
  const messages = derive([texts, formats], (words, written) => new Messages(words, written));
  const access = new Session(server, clock, () => preferences.flush());
  const connection = new Connection(feed, clock);
  const selection = rememberedSelection(preferences);
  const notifications = new Notifications(clock, (error) => messages.get().error(error));
  const notifier = new Notifier({ notifications, settings, texts, formats, messages, strategy: selection.strategyId });
  const onTrouble = (error: unknown) => notifier.trouble(error);
  const tools = { server, feed, clock, onTrouble, strategy: selection.strategyId };

  const onUnknown = () => {
    selection.strategyId.set(null);
    notifier.unknownStrategy();
  };
  const strategies = new StrategyList({ ...tools, onUnknown });
  const reference = new ReferenceData({ ...tools, strategies: strategies.all });
  const onFill = (fill: Fill) => notifier.booked(fill, reference);
  const portfolio = new PortfolioStore({ ...tools, security: selection.securityId, onFill });
  const hidesStrategies = derive([settings], (chosen) => chosen.hideStrategyOrders);
  const orders = new OrderBlotter({
    ...tools,
    fills: portfolio.fills,
    onNews: (news) => notifier.orderNews(news, reference),
  });
  const mayTrade = () => access.may('TRADER');
  const isLive = () => connection.state.get().link === 'live';
  const onVenue = (name: string, isAway: boolean) => notifier.venue(name, isAway);
  const sessions = new SessionList({ ...tools, accounts: reference.accounts, onVenue });
  const isAway = (feed: string) => sessions.isAway(feed);
  const market = new MarketPrices({ ...tools, mayTrade, isLive, isAway, onTick: (at) => connection.onTick(at) });
  const risk = new RiskStore(tools);
  const cluster = new ClusterStore(server, clock);
  const breaks = new BreakList({ ...tools, onChange: (found) => notifier.breakChanged(found) });
  const stores: Stores = {
    clock,
    access,
    memory: preferences,
    connection: connection.state,
    settings,
    selection,
    intents: new IntentBus(),
    notifications,
    reference,
    market,
    bars: (securityId, size) => new LiveBars(securityId, size, { ...tools, market }),
    book: (securityId) => new Book(securityId, tools),
    trades: (securityId) => new Tape(securityId, tools),
    orders,
    shownOrders: shownOrders(orders, selection.strategyId, hidesStrategies),
    searchOrders: () => new OrderFinder({ ...tools, all: orders.all, hidesStrategies, reference }),
    trading: new TradingStore(server, orders.open, access.identity),
    portfolio,
    strategies,
    sessions,
    cluster,
    log: new LogLines({ ...tools, onError: (line) => notifier.serverError(line) }),
    risk,
    breaks,
    administration: administrationOf(server),
    valueHistory: server.valueHistory,
    pastState: server.pastState,
  };

  const load = async () => {
    await Promise.all([reference.load(), market.load(), risk.loadLimits(), sessions.load(), cluster.load(), preferences.whenReady()]);
    if (selection.securityId.get() === null) selection.securityId.set(reference.securities.get().at(0)?.id ?? null);
  };
  access.identity.subscribe((identity) => identity && preferences.enter(identity.user));
  followConnection(feed, clock, access, load, () => notifier.reconnected());
  // The next user of this tab must not see the notifications of the last one.
  access.phase.subscribe((phase) => {
    if (phase !== 'out') return;
    preferences.leave();
    notifications.clear();
    notifier.forget();
  });
  return { stores, access, texts, formats, messages, whenLoaded: () => languages.whenLoaded(), flush: () => preferences.flush(), suspect: () => connection.suspect() };
}

/** Starts the feed after a login and stops it after a logout. A lost connection may mean that the session ended: the identity is queried. */
function followConnection(feed: Feed, clock: Clock, access: Session, load: () => Promise<void>, onReturn: () => void): void {
  let isUp = false;
  let wasUp = false;
  const loadAll = (): void => {
    load().catch(() => clock.after(RETRY_AFTER_MS, () => isUp && loadAll()));
  };
  feed.onLink((isNowUp) => {
    isUp = isNowUp;
    if (!isUp) return void access.identify();
    loadAll();
    if (wasUp) onReturn();
    wasUp = true;
  });
  access.phase.subscribe((phase) => {
    if (phase === 'in') feed.start();
    if (phase === 'out') feed.stop();
  });
}
