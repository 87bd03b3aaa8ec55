//! Orders of past days: what an index on disk has takes no room in the state, and is still refused or recognised.

use std::collections::BTreeSet;

use domain::command::{Command, PlaceOrder};
use domain::query::Answer;
use domain::{
    AdapterName, Caller, CommandEnvelope, Input, MessageOrigin, Query, RecalledKeys, Refusal, Report,
    RetiredOrdersInput, Source,
};
use engine::{Engine, RetiredKeyLookup};

use crate::world::StoryEngine;

const WEEKEND: &str = "wait 259200\nclock\nmark AAPL 10 10.02";

/// The index of these tests, in memory.
#[derive(Default)]
struct Index {
    ids: BTreeSet<u128>,
    others: BTreeSet<u128>,
}

impl RetiredKeyLookup for Index {
    fn has_id(&self, key: u128) -> bool {
        self.ids.contains(&key)
    }

    fn has_name(&self, key: u128) -> bool {
        self.others.contains(&key)
    }

    fn has_fill(&self, key: u128) -> bool {
        self.others.contains(&key)
    }
}

/// An engine with an index, as the runtime drives it.
struct Indexed {
    world: StoryEngine,
    index: Index,
}

impl Indexed {
    fn open() -> Self {
        let mut world = StoryEngine::open();
        tell(&mut world, RetiredOrdersInput::Begin);
        Self { world, index: Index::default() }
    }

    /// A weekend passes, and the index takes what was retired.
    fn forget(&mut self) {
        self.world.run(WEEKEND);
        let keys = self.world.engine.keys_to_store().expect("orders were retired");
        self.index.ids.extend(keys.ids);
        self.index.others.extend(keys.others);
        tell(&mut self.world, RetiredOrdersInput::Stored(keys.through));
        assert_eq!(self.world.engine.keys_to_store(), None);
    }

    fn recall(&mut self, look: impl FnOnce(&Engine, &Index, &mut RecalledKeys)) {
        let mut found = RecalledKeys::default();
        look(&self.world.engine, &self.index, &mut found);
        if !found.is_empty() {
            tell(&mut self.world, RetiredOrdersInput::Recalled(found));
        }
    }

    fn send(&mut self, envelope: CommandEnvelope) -> Result<Answer, Refusal> {
        self.recall(|engine, index, found| engine.recall_for_command(&envelope, index, found));
        self.world.send(envelope)
    }

    fn place(&mut self, int_id: &str) -> Result<String, &'static str> {
        let command = Command::Place(order(&self.world, Some(int_id), None));
        order_id(self.send(CommandEnvelope { caller: Caller::new(Source::Rest, None), command }))
    }

    /// An order of a FIX session.
    fn place_as(&mut self, cl_ord_id: &str, poss_resend: bool) -> Result<String, &'static str> {
        let command = Command::Place(order(&self.world, None, Some(cl_ord_id)));
        let origin = MessageOrigin { session: "BANK".into(), seq_num: 1, request_echo: None, poss_resend };
        let caller = Caller { origin: Some(Box::new(origin)), ..Caller::new(Source::Fix("BANK".into()), None) };
        order_id(self.send(CommandEnvelope { caller, command }))
    }

    fn report(&mut self, words: &str) -> Vec<String> {
        let words: Vec<&str> = words.split_whitespace().collect();
        let report = Report { adapter: AdapterName("SIM-A".into()), ext_at: None, kind: self.world.said(&words) };
        self.recall(|engine, index, found| engine.recall_for_report(&report, index, found));
        self.world.apply(Input::Report(report)).1
    }

    fn check_replay(&self) {
        let (state, again) = self.world.replayed();
        assert!(state == again, "a replay, which has no index, gives another state");
    }
}

fn tell(world: &mut StoryEngine, told: RetiredOrdersInput) {
    world.apply(Input::RetiredOrders(told)).0.unwrap();
}

fn order(world: &StoryEngine, int_id: Option<&str>, cl_ord_id: Option<&str>) -> PlaceOrder {
    let Command::Place(order) = world.place("buy 1 AAPL @ 10") else { panic!("it is an order") };
    PlaceOrder { int_id: int_id.map(|id| id.parse().unwrap()), cl_ord_id: cl_ord_id.map(Into::into), ..order }
}

fn order_id(answer: Result<Answer, Refusal>) -> Result<String, &'static str> {
    match answer {
        Ok(Answer::Order(order)) => Ok(order.int_id.to_string()),
        Ok(other) => panic!("an order is the answer, not {other:?}"),
        Err(refusal) => Err(refusal.code()),
    }
}

#[test]
fn an_id_of_years_ago_is_refused() {
    let mut indexed = Indexed::open();
    assert_eq!(indexed.place("mine"), Ok("mine".to_owned()));
    indexed.world.run("venue cancels mine");
    indexed.forget();
    assert_eq!(indexed.place("mine"), Err("duplicate-order"));
    assert_eq!(indexed.place("other"), Ok("other".to_owned()));
    indexed.world.run("venue cancels other");
    indexed.forget();
    for id in ["mine", "other"] {
        assert_eq!(indexed.place(id), Err("duplicate-order"));
    }
    let check = Query::CheckOrder(order(&indexed.world, Some("mine"), None), Caller::new(Source::Rest, None));
    indexed.recall(|engine, index, found| engine.recall_for_query(&check, index, found));
    let verdict = indexed.world.engine.answer(indexed.world.now, 0, &check);
    assert!(matches!(verdict, Ok(Answer::PreTradeCheck(verdict)) if verdict.refusal.is_some()));
    indexed.check_replay();
}

#[test]
fn a_cl_ord_id_of_long_ago_is_free_but_for_what_may_have_been_sent_before() {
    let mut indexed = Indexed::open();
    assert_eq!(indexed.place_as("X", false), Ok("X".to_owned()));
    indexed.world.run("venue cancels X");
    indexed.forget();
    assert_eq!(indexed.place_as("X", true), Err("duplicate-order"));
    // The platform's own ids are never given twice.
    assert_eq!(indexed.place_as("X", false), Ok("A-1".to_owned()));
    indexed.check_replay();
}

#[test]
fn a_number_that_a_client_chose_is_never_generated() {
    let mut indexed = Indexed::open();
    let next = |indexed: &mut Indexed, name| indexed.place_as(name, false).unwrap();
    assert_eq!(next(&mut indexed, "NONE"), "A-1");
    indexed.world.run("venue cancels A-1");
    for id in ["A-3", "A-4", "NEW-7", "A-9000000000000000001"] {
        assert_eq!(indexed.place(id), Ok(id.to_owned()));
        indexed.world.run(&format!("venue cancels {id}"));
    }
    indexed.forget();
    assert_eq!([next(&mut indexed, "NONE"), next(&mut indexed, "A-3")], ["A-5", "A-6"]);
    assert_eq!(indexed.place("A-9000000000000000001"), Err("duplicate-order"));
    indexed.check_replay();
}

#[test]
fn a_repeated_fill_of_a_forgotten_order_is_dropped_and_a_new_one_is_told() {
    let mut indexed = Indexed::open();
    indexed.place("mine").unwrap();
    let number = indexed.world.order("mine").unwrap().id;
    indexed.world.run("venue accepts mine\nvenue fills mine 1 @ 10 e1");
    indexed.forget();
    assert_eq!(indexed.report(&format!("fills #{number} 1 @ 10 e1")), Vec::<String>::new());
    let told = indexed.report(&format!("fills #{number} 1 @ 10 e2"));
    assert!(told[0].contains("fill-not-booked") && told[0].contains("comes days late"), "{told:?}");
    assert!(!told.iter().any(|line| line.contains("HALTED")), "the order is known: {told:?}");
    // Without the index the order is known still, and nothing is booked.
    indexed.forget_index();
    let told = indexed.report(&format!("fills #{number} 1 @ 10 e1"));
    assert!(told.iter().all(|line| line.contains("fill-not-booked")), "{told:?}");
    indexed.check_replay();
}

#[test]
fn a_repeated_fill_of_a_forgotten_order_is_dropped_though_its_account_has_moved() {
    let mut indexed = Indexed::open();
    indexed.place("mine").unwrap();
    let number = indexed.world.order("mine").unwrap().id;
    indexed.world.run("venue accepts mine\nvenue fills mine 1 @ 10 e1");
    indexed.forget();
    indexed.world.move_account(1, "B");
    assert_eq!(indexed.report(&format!("fills #{number} 1 @ 10 e1")), Vec::<String>::new());
    let told = indexed.report(&format!("fills #{number} 1 @ 10 e2"));
    assert!(told[0].contains("comes days late"), "{told:?}");
    indexed.check_replay();
}

/// Nothing of it can be reversed, so a person has to; lists repeat what they have told. What counts instead is told by itself where it has an id
/// of its own, as an execution that is not booked.
#[test]
fn what_is_taken_back_of_a_forgotten_order_is_an_alarm_once() {
    let mut indexed = Indexed::open();
    indexed.place("mine").unwrap();
    let number = indexed.world.order("mine").unwrap().id;
    indexed.world.run("venue accepts mine\nvenue fills mine 1 @ 10 e1");
    indexed.forget();
    for (took_back, theirs) in [("e1 for 1 @ 11 e2", "quantity 0"), ("e1 for 1 @ 11 e1", "quantity 1, price 11")] {
        let told = indexed.report(&format!("takes-back #{number} {took_back}"));
        assert!(told[0].contains("bust-not-booked") && told[0].contains("e1 of order number"), "{told:?}");
        assert!(told[1].contains("break-found") && told[1].contains(theirs), "{told:?}");
        assert!(!told.iter().any(|line| line.contains("HALTED")), "the order is known: {told:?}");
        assert_eq!(indexed.report(&format!("takes-back #{number} {took_back}")), Vec::<String>::new());
    }
    indexed.check_replay();
}

/// Lists of a venue reach days back.
#[test]
fn what_was_taken_back_before_its_order_was_forgotten_is_no_news() {
    let mut indexed = Indexed::open();
    indexed.place("mine").unwrap();
    let number = indexed.world.order("mine").unwrap().id;
    indexed.world.run("venue accepts mine\nvenue fills mine 1 @ 10 e1\nvenue busts mine e1");
    indexed.world.run("venue fills mine 1 @ 10 e2\nvenue takes-back mine e2 for 1 @ 11 e2\nvenue cancels mine");
    indexed.forget();
    for took_back in ["e1", "e1 for 1 @ 12 e3", "e2 for 1 @ 11 e2"] {
        assert_eq!(indexed.report(&format!("takes-back #{number} {took_back}")), Vec::<String>::new(), "{took_back}");
    }
    let told = indexed.report(&format!("takes-back #{number} e2"));
    assert!(told[0].contains("bust-not-booked"), "{told:?}");
    indexed.check_replay();
}

#[test]
fn in_journals_of_before_what_was_taken_back_is_told_once_more_days_later() {
    let mut indexed = Indexed::open();
    let before = domain::risk::EngineSettings { recovery_rules_2: false, ..Default::default() };
    indexed.world.command(Command::Configure(before)).unwrap();
    indexed.place("mine").unwrap();
    let number = indexed.world.order("mine").unwrap().id;
    indexed.world.run("venue accepts mine\nvenue fills mine 1 @ 10 e1\nvenue busts mine e1\nvenue cancels mine");
    indexed.forget();
    let told = indexed.report(&format!("takes-back #{number} e1"));
    assert!(told[0].contains("bust-not-booked"), "{told:?}");
    indexed.check_replay();
}

impl Indexed {
    /// Everything recalled is forgotten again, and the index is lost.
    fn forget_index(&mut self) {
        self.place("last").unwrap();
        self.world.run("venue cancels last");
        self.forget();
        self.index = Index::default();
    }
}

#[test]
fn ids_of_before_the_index_stay() {
    let mut world = StoryEngine::open();
    world.run("place early buy 1 AAPL @ 10\nvenue cancels early");
    world.run(WEEKEND);
    tell(&mut world, RetiredOrdersInput::Begin);
    let mut indexed = Indexed { world, index: Index::default() };
    indexed.place("later").unwrap();
    indexed.world.run("venue cancels later");
    indexed.forget();
    indexed.world.engine = Engine::from_state(&indexed.world.engine.encode_state()).unwrap();
    assert_eq!([indexed.place("early"), indexed.place("later")], [Err("duplicate-order"), Err("duplicate-order")]);
    indexed.check_replay();
}

#[test]
fn what_was_retired_since_is_not_forgotten_with_what_was_stored() {
    let mut indexed = Indexed::open();
    indexed.place("mine").unwrap();
    indexed.world.run("venue cancels mine");
    indexed.world.run(WEEKEND);
    let first = indexed.world.engine.keys_to_store().unwrap();
    indexed.place("other").unwrap();
    indexed.world.run("venue cancels other");
    indexed.world.run(WEEKEND);
    tell(&mut indexed.world, RetiredOrdersInput::Stored(first.through));
    let both = indexed.world.engine.keys_to_store().unwrap();
    assert_eq!((first.ids.len(), both.ids.len()), (1, 2));
}

/// Orders of a week.
const ORDERS: u64 = 1_000;
const WEEKS: u64 = 3;

/// A week of orders that are filled, and what the index takes.
fn trade_week(indexed: &mut Indexed, week: u64, forgets: bool) {
    for number in week * ORDERS..(week + 1) * ORDERS {
        let side = if number % 2 == 0 { "buy" } else { "sell" };
        let order = format!("place mine{number} {side} 1 AAPL @ 10\nvenue fills mine{number} 1 @ 10 x{number}");
        indexed.world.run(&format!("wait 1\n{order}"));
    }
    indexed.world.run(WEEKEND);
    if forgets {
        let through = indexed.world.engine.keys_to_store().unwrap().through;
        tell(&mut indexed.world, RetiredOrdersInput::Stored(through));
    }
    indexed.world.inputs = vec![];
}

/// Bytes by which memory and snapshot grow from week to week. The first week makes room that later ones use.
fn growth(forgets: bool) -> (i64, i64) {
    let mut indexed = Indexed::open();
    trade_week(&mut indexed, 0, forgets);
    let before = indexed.world.engine.encode_state().len() as u64;
    let counted = allocation_counter::measure(|| {
        (1..=WEEKS).for_each(|week| trade_week(&mut indexed, week, forgets));
    });
    let after = indexed.world.engine.encode_state().len() as u64;
    (counted.bytes_current, after.cast_signed() - before.cast_signed())
}

#[test]
fn retired_orders_take_less_than_a_byte_of_memory_and_a_hundredth_of_the_snapshot() {
    let orders = (WEEKS * ORDERS).cast_signed();
    let ((memory_before, state_before), (memory, state)) = (growth(false), growth(true));
    println!("{orders} retired orders: {memory_before} bytes of memory, {state_before} of a snapshot");
    println!("with an index: {memory} and {state}");
    assert!(memory_before > 30 * orders && state_before > 30 * orders, "{memory_before} {state_before}");
    assert!(memory < orders, "{memory}");
    assert!(state * 100 < state_before, "{state}");
}
