//! What every road promises.

use std::collections::BTreeMap;

use domain::command::{CancelOrder, GenericEvent, MarketDataSubscription, ReferenceChange, RestatedFields};
use domain::report::SessionState;
use domain::risk::{RiskScope, TradingState};
use domain::{AdapterName, Command, Event, PublishedEvent, ReferenceUpdate, SecurityId, StrategyId};
use runtime::strategies::StrategyDelivery;

use crate::harness::{BusHarness, OTHER, STOCK, STRATEGY};
use crate::nats_transport::NatsTransport;
use crate::transports::{BrokerTransport, BusTransport, InProcess};

macro_rules! promises {
    ($($promise:ident),+ $(,)?) => {
        mod in_process {
            $( #[test] fn $promise() { super::$promise::<super::InProcess>(); } )+
        }

        mod over_the_broker {
            $( #[test] fn $promise() { super::$promise::<super::BrokerTransport>(); } )+
        }

        mod over_nats {
            $( #[test] fn $promise() { super::$promise::<super::NatsTransport>(); } )+
        }
    };
}

promises!(
    own_events_come_in_order_and_once_and_those_of_others_never,
    the_newest_price_comes_in_the_end_and_never_an_older_after_a_newer,
    prices_come_only_of_what_was_asked_for,
    a_refused_command_is_told_once_with_its_code,
    strategies_hear_what_others_say,
    after_a_cut_nothing_is_missing_and_nothing_comes_twice,
    after_a_cut_of_the_server_s_own_connection_nothing_is_missing_and_nothing_comes_twice,
    many_events_come_all_and_in_order,
    after_a_cut_no_change_of_reference_data_is_missing,
    after_a_cut_no_change_of_a_session_or_trading_state_is_missing,
    after_a_cut_of_the_server_s_own_connection_no_halt_is_missing,
);

fn events(heard: &[StrategyDelivery]) -> impl Iterator<Item = &PublishedEvent> {
    heard
        .iter()
        .filter_map(|delivery| if let StrategyDelivery::Event(published) = delivery { Some(published) } else { None })
}

/// Amounts of the bookings that were heard.
fn bookings(heard: &[StrategyDelivery]) -> Vec<String> {
    let booked = events(heard).filter_map(|published| match &published.event {
        Event::Transaction(booked) => Some(booked.price.to_string()),
        _ => None,
    });
    booked.collect()
}

fn own_events_come_in_order_and_once_and_those_of_others_never<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    for dollars in 1..=50 {
        server.credit(if dollars % 5 == 0 { OTHER } else { STRATEGY }, dollars);
    }
    let expected: Vec<String> =
        (1..=50).filter(|dollars| dollars % 5 != 0).map(|dollars| dollars.to_string()).collect();
    let heard = road.receive_until(|heard| bookings(heard).len() >= expected.len());
    assert_eq!(bookings(&heard), expected);
    let sequences: Vec<u64> = events(&heard).map(|published| published.sequence).collect();
    assert!(sequences.is_sorted(), "{sequences:?}");
}

fn subscribe<R: BusTransport>(server: &BusHarness, road: &mut R) {
    road.send(Command::Subscribe(MarketDataSubscription { strategy: STRATEGY, security: STOCK }));
    // A strategy that said it hears prices from then on: this booking is behind it.
    road.send(Command::Publish(GenericEvent { strategy: STRATEGY, name: "mark".into(), body: "{}".into() }));
    let mark = |reply: domain::query::EngineResult| matches!(reply, Ok(domain::Answer::Subscriptions(wishes)) if !wishes.is_empty());
    scenarios::wait::wait_for("the subscription", || {
        let ticket = server.bus.inbox.query(domain::Query::Subscriptions).unwrap();
        mark(ticket.recv_blocking().unwrap().outcome).then_some(())
    });
}

fn bids(heard: &[StrategyDelivery]) -> Vec<i64> {
    let quoted = events(heard).filter_map(|published| match &published.event {
        Event::Tick(tick) => tick.bid.map(|bid| bid.to_string().parse().unwrap()),
        _ => None,
    });
    quoted.collect()
}

fn the_newest_price_comes_in_the_end_and_never_an_older_after_a_newer<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    subscribe(&server, &mut road);
    (1..=500).for_each(|bid| server.quote(bid));
    let heard = road.receive_until(|heard| bids(heard).last() == Some(&500));
    assert!(bids(&heard).is_sorted_by(|earlier, later| earlier < later), "{:?}", bids(&heard));
}

fn prices_come_only_of_what_was_asked_for<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    server.quote(1);
    server.credit(STRATEGY, 1);
    let heard = road.receive_until(|heard| !bookings(heard).is_empty());
    assert_eq!(bids(&heard), [0; 0]);
}

fn a_refused_command_is_told_once_with_its_code<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    let mut order = strategy::order::market(SecurityId(99), domain::Side::Buy, domain::Quantity::from(1));
    (order.strategy, order.int_id) = (Some(STRATEGY), Some("ONE-1".parse().unwrap()));
    road.send(Command::Place(order));
    let refusals = |heard: &[StrategyDelivery]| -> Vec<String> {
        let told = heard.iter().filter_map(|delivery| match delivery {
            StrategyDelivery::Refused(refused) => Some(refused.code.to_string()),
            _ => None,
        });
        told.collect()
    };
    let heard = road.receive_until(|heard| !refusals(heard).is_empty());
    assert_eq!(refusals(&heard), ["unknown-security"]);
    server.credit(STRATEGY, 1);
    let heard = road.receive_until(|heard| !bookings(heard).is_empty());
    assert_eq!(refusals(&heard), [""; 0]);
    let restated = RestatedFields { strategy: Some(STRATEGY), ..RestatedFields::default() };
    let cancel = CancelOrder { restated, ..CancelOrder::new("ONE-1".parse().unwrap()) };
    road.send(Command::Cancel(cancel));
    let heard = road.receive_until(|heard| !refusals(heard).is_empty());
    assert_eq!(refusals(&heard), ["unknown-order"]);
}

fn strategies_hear_what_others_say<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    let say = |strategy: StrategyId, body: &str| {
        server.command(Command::Publish(GenericEvent { strategy, name: "hello".into(), body: body.into() }));
    };
    say(OTHER, "1");
    say(OTHER, "2");
    let words = |heard: &[StrategyDelivery]| -> Vec<String> {
        let said = events(heard).filter_map(|published| match &published.event {
            Event::Generic(event) => Some(format!("{} {} {}", event.strategy, event.name, event.body)),
            _ => None,
        });
        said.collect()
    };
    let heard = road.receive_until(|heard| words(heard).len() >= 2);
    assert_eq!(words(&heard), ["3 hello 1", "3 hello 2"]);
}

fn after_a_cut_nothing_is_missing_and_nothing_comes_twice<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    server.credit(STRATEGY, 1);
    let mut heard = road.receive_until(|heard| bookings(heard).len() == 1);
    road.cut(&mut || (2..=20).for_each(|dollars| assert!(server.credit(STRATEGY, dollars) > 0)));
    server.credit(STRATEGY, 21);
    heard.extend(road.receive_until(|heard| bookings(heard).contains(&"21".to_owned())));
    let expected: Vec<String> = (1..=21).map(|dollars: i32| dollars.to_string()).collect();
    assert_eq!(bookings(&heard), expected);
}

fn after_a_cut_of_the_server_s_own_connection_nothing_is_missing_and_nothing_comes_twice<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    let mut heard = vec![];
    for dollars in 1..=60 {
        server.credit(STRATEGY, dollars);
        if dollars % 20 == 0 {
            road.cut_server();
            server.credit(STRATEGY, 1_000 + dollars);
            let last = (1_000 + dollars).to_string();
            heard.extend(road.receive_until(|heard| bookings(heard).contains(&last)));
        }
    }
    let expected = (1..=60).flat_map(|dollars| [Some(dollars), (dollars % 20 == 0).then_some(1_000 + dollars)]);
    let expected: Vec<String> = expected.flatten().map(|dollars: i32| dollars.to_string()).collect();
    assert_eq!(bookings(&heard), expected);
}

/// Reference data as a replay has them: what is logged of an event are its changes.
fn changed(heard: &[StrategyDelivery]) -> Vec<&ReferenceUpdate> {
    let updates = events(heard).filter_map(|published| match &published.event {
        Event::Reference(update) => Some(&**update),
        _ => None,
    });
    updates.collect()
}

fn symbols_after(updates: &[&ReferenceUpdate]) -> BTreeMap<u64, String> {
    let mut symbols = BTreeMap::from([(STOCK.0, "STOCK".to_owned())]);
    for change in updates.iter().flat_map(|update| &update.changes) {
        match change {
            ReferenceChange::Security(security) => drop(symbols.insert(security.id.0, security.symbol.to_string())),
            ReferenceChange::RetireSecurity(id) => drop(symbols.remove(&id.0)),
            _ => {}
        }
    }
    symbols
}

fn after_a_cut_no_change_of_reference_data_is_missing<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    let list = |id: u64, symbol: &str| {
        server.change_reference(ReferenceChange::Security(samples::stock(id, symbol)));
    };
    list(2, "TWO");
    let mut heard = road.receive_until(|heard| !changed(heard).is_empty());
    road.cut(&mut || {
        list(3, "THREE");
        list(2, "SECOND");
        server.change_reference(ReferenceChange::RetireSecurity(STOCK));
    });
    list(4, "FOUR");
    let is_last = |update: &&ReferenceUpdate| update.data.securities.contains_key(&SecurityId(4));
    heard.extend(road.receive_until(|heard| changed(heard).iter().any(is_last)));
    let expected = [(2, "SECOND"), (3, "THREE"), (4, "FOUR")].map(|(id, symbol)| (id, symbol.to_owned()));
    assert_eq!(symbols_after(&changed(&heard)), BTreeMap::from(expected.clone()));
    let last = &changed(&heard).last().unwrap().data.securities;
    assert!(last.values().map(|security| (security.id.0, security.symbol.to_string())).eq(expected));
}

/// Sessions, trading states and bookings, as they were heard.
fn changes(heard: &[StrategyDelivery]) -> Vec<String> {
    let told = events(heard).filter_map(|published| match &published.event {
        Event::Session(change) => Some(format!("{} {:?}", change.adapter, change.state)),
        Event::TradingState(change) => Some(format!("{:?}", change.state)),
        Event::Transaction(booked) => Some(booked.price.to_string()),
        _ => None,
    });
    told.collect()
}

fn set_state(server: &BusHarness, state: TradingState) {
    let reply = server.command(Command::SetTradingState { scope: RiskScope::Platform, state, reason: None });
    assert!(reply.outcome.is_ok(), "{reply:?}");
}

fn announce(server: &BusHarness, state: SessionState) {
    let adapter = AdapterName::new("SIM", None);
    assert!(server.command(Command::AnnounceSession { adapter, state }).outcome.is_ok());
}

fn after_a_cut_no_change_of_a_session_or_trading_state_is_missing<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    announce(&server, SessionState::Connected);
    let mut heard = road.receive_until(|heard| changes(heard).len() == 1);
    road.cut(&mut || {
        announce(&server, SessionState::Disconnected);
        server.credit(STRATEGY, 1);
        set_state(&server, TradingState::Halted);
        server.credit(STRATEGY, 2);
        announce(&server, SessionState::LoggedOn);
    });
    set_state(&server, TradingState::Active);
    server.credit(STRATEGY, 3);
    heard.extend(road.receive_until(|heard| changes(heard).contains(&"3".to_owned())));
    let expected = ["SIM Connected", "SIM Disconnected", "1", "Halted", "2", "SIM LoggedOn", "Active", "3"];
    assert_eq!(changes(&heard), expected);
}

fn after_a_cut_of_the_server_s_own_connection_no_halt_is_missing<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    let (mut heard, mut expected) = (vec![], vec![]);
    for round in 1..=3_i64 {
        set_state(&server, TradingState::Halted);
        road.cut_server();
        set_state(&server, TradingState::Active);
        server.credit(STRATEGY, round);
        expected.extend(["Halted".to_owned(), "Active".to_owned(), round.to_string()]);
        heard.extend(road.receive_until(|heard| changes(heard).last() == expected.last()));
    }
    assert_eq!(changes(&heard), expected);
}

/// More than are sent ahead of what was taken.
fn many_events_come_all_and_in_order<R: BusTransport>() {
    let server = BusHarness::open();
    let mut road = R::open(&server);
    for dollars in 1..=1_500 {
        server.credit(STRATEGY, dollars);
    }
    let heard = road.receive_until(|heard| bookings(heard).len() >= 1_500);
    let expected: Vec<String> = (1..=1_500).map(|dollars: i32| dollars.to_string()).collect();
    assert_eq!(bookings(&heard), expected);
}
