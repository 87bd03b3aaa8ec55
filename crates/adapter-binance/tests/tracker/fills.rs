//! Questions for the fills of a symbol: whose each trade is, and where the next page begins.

use adapter_binance::external_orders::ExternalOrders;
use adapter_binance::fills_question::{FillsQuestion, FillsStep, OrderMemory, UNKNOWN_ORDERS_MAX};
use adapter_binance::first_log_on::FirstLogOn;
use adapter_binance::leg_owners::{LegOwner, LegOwners};
use adapter_binance::protocol::answers::CallAnswer;
use adapter_binance::protocol::wire_values::WireInteger;
use adapter_kit::KeptText;
use domain::report::FillsPage;
use domain::{Currency, OrderId, SecurityId, Text};
use serde_json::{Value, json};

use crate::inquiries::{absent, leg, traded};
use crate::venue_words::{INSTANCE, NOW, success};

struct Memory {
    owners: LegOwners,
    external: ExternalOrders,
    first_log_on: FirstLogOn,
}

impl Memory {
    /// Logged on for the first time at 1,000.
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut first_log_on = FirstLogOn::open(KeptText::file(folder.path().join("V.since"))).unwrap();
        first_log_on.mark(WireInteger(1_000)).unwrap();
        Self { owners: LegOwners::default(), external: ExternalOrders::default(), first_log_on }
    }

    fn orders(&mut self) -> OrderMemory<'_> {
        OrderMemory {
            instance: INSTANCE,
            owners: &mut self.owners,
            external: &mut self.external,
            first_log_on: &self.first_log_on,
        }
    }

    /// Asks with these answers: the requests, and the page or why there is none.
    fn ask(&mut self, cursor: Option<&str>, answers: &[CallAnswer]) -> (Vec<String>, Result<FillsPage, String>) {
        let cursor = cursor.map(Text::from);
        let started = FillsQuestion::start(SecurityId(7), "BTCUSDT", cursor.as_ref(), NOW, &self.first_log_on);
        let (mut question, first) = started.unwrap();
        let mut asked = vec![format!("{} {}", first.call.socket(), first.parameters.encoded())];
        for answer in answers {
            match question.on_answer(answer, &mut self.orders()) {
                FillsStep::Ask(next) => asked.push(format!("{} {}", next.call.socket(), next.parameters.encoded())),
                FillsStep::Done => return (asked, Ok(question.finish(&mut self.orders(), Currency::USDT).0)),
                FillsStep::Fail(reason) => return (asked, Err(reason)),
            }
        }
        panic!("more is asked than answered: {asked:?}");
    }
}

fn list(trades: &[Value]) -> CallAnswer {
    success(&json!(trades))
}

fn orders_of(page: &FillsPage) -> Vec<(u64, String)> {
    page.fills.iter().map(|fill| (fill.order.0, fill.exec_id.to_string())).collect()
}

#[test]
fn trades_of_orders_that_are_known_need_no_further_question_and_the_cursor_is_the_next_id() {
    let mut memory = Memory::new();
    memory.owners.add("BTCUSDT", WireInteger(41), WireInteger(1_500), LegOwner::Own(OrderId(5)));
    let (asked, page) = memory.ask(Some("70"), &[list(&[traded(41, 70, "1", 1_600), traded(41, 73, "1", 1_700)])]);
    assert_eq!(asked, ["myTrades symbol=BTCUSDT&fromId=70&limit=1000"]);
    let page = page.unwrap();
    assert_eq!(orders_of(&page), [(5, "BTCUSDT:70".to_owned()), (5, "BTCUSDT:73".to_owned())]);
    assert_eq!((page.from.as_deref(), page.next_cursor.as_deref(), page.last), (Some("70"), Some("74"), true));
    let (_, empty) = memory.ask(Some("74"), &[list(&[])]);
    assert_eq!(empty.unwrap().next_cursor.as_deref(), Some("74"), "an empty page leaves the cursor");
}

#[test]
fn an_order_that_is_not_known_is_asked_about_and_ours_is_told_from_others() {
    let mut memory = Memory::new();
    let trades = list(&[traded(41, 70, "2", 1_600), traded(42, 71, "1", 1_700)]);
    let own = success(&leg(41, "R1-5-0_D", "FILLED", "2"));
    let other = success(&leg(42, "web_1", "PARTIALLY_FILLED", "1"));
    let (asked, page) = memory.ask(None, &[trades, own, other]);
    assert_eq!(asked[1..], ["order.status symbol=BTCUSDT&orderId=41", "order.status symbol=BTCUSDT&orderId=42"]);
    assert_eq!(orders_of(&page.unwrap()), [(5, "BTCUSDT:70".to_owned())]);
    assert!(memory.external.incomplete().is_empty(), "the other order has all its trades");
    assert_eq!(memory.owners.owner_at("BTCUSDT", WireInteger(42), WireInteger(1_700)), Some(LegOwner::External));
}

#[test]
fn what_came_before_the_first_log_on_is_left_out_without_a_question() {
    let mut memory = Memory::new();
    let (asked, page) = memory.ask(None, &[list(&[traded(9, 3, "2", 999)])]);
    assert_eq!((asked.len(), orders_of(&page.unwrap())), (1, vec![]));
}

#[test]
fn a_page_with_many_unknown_orders_ends_before_the_next_one() {
    let mut memory = Memory::new();
    let count = i64::try_from(UNKNOWN_ORDERS_MAX).unwrap();
    let trades: Vec<Value> = (1..=count + 2).map(|id| traded(id, 100 + id, "1", 2_000)).collect();
    let mut answers = vec![list(&trades)];
    answers.extend((1..=count).map(|id| success(&leg(id, &format!("web_{id}"), "FILLED", "1"))));
    let (asked, page) = memory.ask(None, &answers);
    let page = page.unwrap();
    assert_eq!(asked.len(), UNKNOWN_ORDERS_MAX + 1);
    assert_eq!((page.next_cursor.as_deref(), page.last), (Some((101 + count).to_string().as_str()), false));
}

#[test]
fn an_order_that_the_venue_does_not_show_yet_makes_no_list() {
    let mut memory = Memory::new();
    let (_, page) = memory.ask(None, &[list(&[traded(41, 70, "2", 1_600)]), absent()]);
    assert!(page.unwrap_err().contains("Order does not exist"));
    let (_, other) = memory.ask(None, &[list(&[traded(41, 70, "2", 1_600)]), success(&leg(40, "a", "FILLED", "2"))]);
    assert!(other.unwrap_err().contains("asked about order"));
}
