//! Queries, and when they are answered.

use domain::market::Tick;
use domain::query::Filter;
use domain::risk::{RiskLimits, RiskScope, TradingState, TradingStateChange};
use domain::{EventClass, Position, Text, command};
use std::thread;

use super::*;

#[test]
fn the_history_of_an_order_has_all_its_events_in_order() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    offer_day(&model);
    let expected = [
        status(2, &order(1, BaseState::PendingNew), ExecType::PendingNew),
        status(4, &order(1, BaseState::New), ExecType::New),
        status(7, &order(1, BaseState::Filled), ExecType::Fill),
    ];
    assert_eq!(model.order_events(8, "desk-1").unwrap(), expected);
    assert_eq!(model.order_events(8, "nobody's").unwrap(), []);
}

#[test]
fn the_newest_state_of_each_order_is_kept() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    offer_day(&model);
    let expected = [order(1, BaseState::Filled), order(2, BaseState::Canceled)].map(Arc::new);
    assert_eq!(model.orders(8, &OrderSearch::default(), SortOrder::Oldest, ALL).unwrap(), expected);
}

#[test]
fn lists_are_narrowed_by_strategy_account_and_security() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    offer_day(&model);
    let ids = |filter: Filter| {
        let orders = model
            .orders(8, &filter.into(), SortOrder::Oldest, ALL)
            .unwrap()
            .iter()
            .map(|order| order.id.0)
            .collect::<Vec<_>>();
        let booked = model.transactions(8, &filter.into(), SortOrder::Oldest, ALL).unwrap();
        let fills = model.fills(8, filter, ALL).unwrap();
        (orders, booked.iter().map(|booking| booking.id.0).collect::<Vec<_>>(), fills.len())
    };
    let any = Filter::default();
    assert_eq!(ids(any), (vec![1, 2], vec![1, 2], 1));
    assert_eq!(ids(Filter { strategy: Some(StrategyId(1)), ..any }), (vec![1], vec![2], 1));
    assert_eq!(ids(Filter { account: Some(AccountId(12)), ..any }), (vec![2], vec![1], 0));
    assert_eq!(ids(Filter { security: Some(SecurityId(21)), ..any }), (vec![1, 2], vec![2], 1));
    assert_eq!(ids(Filter { security: Some(SecurityId(u64::MAX)), ..any }), (vec![], vec![], 0));
    let all_three =
        Filter { strategy: Some(StrategyId(1)), account: Some(AccountId(11)), security: Some(SecurityId(21)) };
    assert_eq!(ids(all_three), (vec![1], vec![2], 1));
    assert_eq!(ids(Filter { strategy: Some(StrategyId(2)), ..all_three }), (vec![], vec![], 0));
}

#[test]
fn pages_follow_one_another_by_key() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    offer_day(&model);
    let page = |after, limit| {
        let orders = model.orders(8, &OrderSearch::default(), SortOrder::Oldest, PageRequest { after, limit }).unwrap();
        orders.iter().map(|order| order.id.0).collect::<Vec<_>>()
    };
    assert_eq!([page(0, 1), page(1, 1), page(2, 1)], [vec![1], vec![2], vec![]]);
    assert_eq!([page(0, 0), page(u64::MAX, 9)], [vec![], vec![]]);
}

#[test]
fn the_newest_come_first_where_that_is_wanted() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    offer_day(&model);
    let page = |after, limit| {
        let (any, page) = (Filter::default(), PageRequest { after, limit });
        let orders = model.orders(8, &any.into(), SortOrder::Newest, page).unwrap();
        let booked = model.transactions(8, &any.into(), SortOrder::Newest, page).unwrap();
        let orders: Vec<_> = orders.iter().map(|order| order.id.0).collect();
        (orders, booked.iter().map(|booked| booked.id.0).collect::<Vec<_>>())
    };
    assert_eq!(page(SortOrder::Newest.start(), 9), (vec![2, 1], vec![2, 1]));
    assert_eq!([page(SortOrder::Newest.start(), 1), page(2, 1)], [(vec![2], vec![2]), (vec![1], vec![1])]);
    assert_eq!(page(1, 1), (vec![], vec![]));
}

#[test]
fn events_of_one_input_stay_on_one_page() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    offer_day(&model);
    let page = |after, limit| {
        let events = model.events(8, PageRequest { after, limit }).unwrap();
        events.iter().map(|event| (event.sequence, event.at.0)).collect::<Vec<_>>()
    };
    assert_eq!(page(0, 3), [(1, 1000), (2, 2000), (3, 3000)]);
    assert_eq!(page(3, 2), [(4, 4000), (5, 5000), (5, 5000), (5, 5000)]);
    assert_eq!(page(5, 1), [(7, 7000); 3]);
    assert_eq!(page(8, 9), []);
}

#[test]
fn a_stretch_of_events_ends_anywhere_by_their_number_or_their_octets() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    offer_day(&model);
    let stretch = |after, limit, octets| {
        let found = model.events_behind(8, Stretch { after, limit, octets }).unwrap();
        (found.events.iter().map(|(place, event)| (event.sequence, *place)).collect::<Vec<_>>(), found.is_cut)
    };
    assert_eq!(stretch((3, u32::MAX), 2, 1_000_000), (vec![(4, 0), (5, 0)], true));
    assert_eq!(stretch((5, 0), 5, 1_000_000), (vec![(5, 1), (5, 2), (7, 0), (7, 1), (7, 2)], true));
    assert_eq!(stretch((7, 1), 9, 1_000_000), (vec![(7, 2), (8, 0)], false));
    // One at least, however long it is, and then as many as begin within the octets.
    assert_eq!(stretch((5, 0), 9, 1), (vec![(5, 1)], true));
    let octets = model.events(8, PageRequest { after: 4, limit: 1 }).unwrap()[1].payload.len();
    assert_eq!(stretch((5, 0), 9, octets + 1), (vec![(5, 1), (5, 2)], true));
    assert_eq!(stretch((8, 0), 9, 1_000_000), (vec![], false));
}

#[test]
fn a_transaction_is_found_by_its_id() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    offer_day(&model);
    let found = |id| model.transaction(8, TransactionId(id)).unwrap();
    assert_eq!(found(2), Some(Arc::new(transaction(2))));
    assert_eq!([found(3), found(u64::MAX)], [None, None]);
}

#[test]
fn a_fill_is_found_with_its_price() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    offer_day(&model);
    let expected = [Arc::new(fill(7, &order(1, BaseState::Filled)))];
    assert_eq!(model.fills(8, Filter::default(), ALL).unwrap(), expected);
}

#[test]
fn whatever_happened_can_be_decoded_again() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    let subscription = command::MarketDataSubscription { strategy: StrategyId(1), security: SecurityId(21) };
    let (mode, phase) = (command::Mode::RealTime, command::StrategyPhase::Run);
    let phase = LifeCycle { strategy: StrategyId(1), mode, phase, failure: None };
    let session = SessionChange {
        adapter: AdapterName::new("SIM", None),
        state: domain::report::SessionState::LoggedOn,
        lines: vec![],
    };
    let halted = TradingStateChange {
        scope: RiskScope::Platform,
        state: TradingState::Halted,
        at: Timestamp(1),
        reason: None,
        changed_by: None,
    };
    let limits = RiskLimits { max_open_orders: Some(9), ..RiskLimits::default() };
    let note = command::GenericEvent { strategy: StrategyId(1), name: "note".into(), body: "{}".into() };
    let events = vec![
        Event::Subscription(subscription, true),
        Event::LifeCycle(Arc::new(phase.clone())),
        Event::Session(Arc::new(session.clone())),
        Event::TradingState(Arc::new(halted.clone())),
        Event::Limits(RiskScope::Platform, Arc::new(limits.clone())),
        alarm("text"),
        Event::Generic(Arc::new(note.clone())),
    ];
    let events: Vec<_> =
        events.into_iter().map(|event| PublishedEvent { sequence: 1, at: Timestamp(0), event }).collect();
    model.append(1, &events);
    let past = model.events(1, ALL).unwrap();

    let classes: Vec<_> = past.iter().map(|event| event.class).collect();
    assert_eq!(classes, events.iter().map(|published| published.event.class() as u8).collect::<Vec<_>>());
    reads(&past[0].payload, (subscription, true));
    reads(&past[1].payload, (phase.strategy, phase.mode, phase.phase));
    reads(&past[2].payload, session);
    reads(&past[3].payload, halted);
    reads(&past[4].payload, (RiskScope::Platform, limits));
    reads(&past[5].payload, (0_u8, Text::from("desk"), Text::from("text")));
    reads(&past[6].payload, note);
}

fn reads<T: for<'b> minicbor::Decode<'b, ()> + PartialEq + std::fmt::Debug>(bytes: &[u8], expected: T) {
    assert_eq!(minicbor::decode::<T>(bytes).unwrap(), expected);
}

#[test]
fn prices_and_positions_are_not_history_but_count_as_applied() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    let tick = Tick {
        security: SecurityId(21),
        feed: "SIM".into(),
        at: Timestamp(0),
        last: None,
        last_at: None,
        vol_last: None,
        bid: None,
        ask: None,
        vol_bid: None,
        vol_ask: None,
        vol: None,
        stale: None,
    };
    let position = Position {
        id: domain::PositionId(1),
        strategy: StrategyId(1),
        security: SecurityId(21),
        account: AccountId(11),
        quantity: Quantity(100.into()),
        cost: Amount::ZERO,
        avg_price: None,
        realized_pl: Amount::ZERO,
        unrealized_pl: None,
        market_price: None,
        market_value: None,
        currency: Currency::USD,
        changed_at: Timestamp(0),
        commissions: Amount::ZERO,
        fees: Amount::ZERO,
    };
    let events = [Event::Tick(Arc::new(tick)), Event::Position(Arc::new(position))];
    assert_eq!(events.each_ref().map(Event::class), [EventClass::Tick, EventClass::Position]);
    let events = events.map(|event| PublishedEvent { sequence: 5, at: Timestamp(0), event });
    model.append(5, &events);
    assert_eq!(model.events(5, ALL).unwrap(), []);
    assert_eq!(model.applied(), 5);
    model.stop().unwrap();
    drop(model);
    assert_eq!(fixture.open().applied(), 5, "also over a restart");
}

#[test]
fn a_question_waits_until_what_the_caller_did_is_there() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    thread::scope(|scope| {
        let asked = scope.spawn(|| model.orders(8, &OrderSearch::default(), SortOrder::Oldest, ALL).unwrap().len());
        offer_day(&model);
        assert_eq!(asked.join().unwrap(), 2);
    });
}

#[test]
fn a_query_that_times_out_reports_the_applied_sequence() {
    let fixture = ReadModelFixture::new();
    let limits = ReadModelLimits { timeout: Duration::from_millis(1), ..ReadModelLimits::default() };
    let lock = DataDirLock::acquire(fixture.folder.path()).unwrap();
    let model = ReadModel::open_with(limits, &lock, INSTANCE, u64::MAX).unwrap();
    offer_day(&model);
    model.stop().unwrap();
    match model.orders(9, &OrderSearch::default(), SortOrder::Oldest, ALL) {
        Err(HistoryError::Behind { applied: 8, wanted: 9 }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(model.orders(8, &OrderSearch::default(), SortOrder::Oldest, ALL).unwrap().len(), 2);
}

#[test]
fn many_can_ask_at_the_same_time() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    thread::scope(|scope| {
        let ask = || (0..50).map(|_| model.events(8, ALL).unwrap().len()).sum::<usize>();
        let askers: Vec<_> = (0..3 * HISTORY_READERS_MAX).map(|_| scope.spawn(ask)).collect();
        offer_day(&model);
        askers.into_iter().for_each(|asker| assert_eq!(asker.join().unwrap(), 50 * 11));
    });
}

#[test]
fn a_replay_after_a_restart_changes_nothing() {
    let fixture = ReadModelFixture::after_the_day();
    let model = fixture.open();
    assert_eq!(model.applied(), 8);
    let before = contents(&model);
    offer_day(&model);
    model.stop().unwrap();
    assert_eq!((contents(&model), before), (contents_after(8), contents_after(8)));
}

#[test]
fn after_the_stop_history_can_be_queried_and_nothing_more_is_accepted() {
    let fixture = ReadModelFixture::new();
    let model = fixture.open();
    offer_day(&model);
    model.stop().unwrap();
    model.append(9, &[PublishedEvent { sequence: 9, at: Timestamp(0), event: alarm("too late") }]);
    model.stop().unwrap();
    assert_eq!((model.applied(), contents(&model)), (8, contents_after(8)));
}
