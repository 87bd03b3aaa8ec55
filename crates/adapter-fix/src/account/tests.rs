//! Lists of a venue that names orders by its own ids: ours is OrigClOrdID (41) there.

use domain::report::{ListingScope, OpenOrdersPage, ReportKind, VenueOrder};
use domain::{OrderId, Timestamp};
use fix::{FixDecoder, FixMessage};

use crate::account::open_order_list::{OpenOrderList, OrderListStep};
use crate::account::snapshot::SnapshotAnswers;
use crate::dialect::Dialect;
use crate::reports::FixTranslator;
use crate::requests::QuestionId;

const ORDERS: QuestionId = QuestionId { begun_millis: 10, number: 3 };
const TRADES: QuestionId = QuestionId { begun_millis: 10, number: 4 };
const OPEN: &str = "35=8|11=8000001|41=R7-1-0|37=8000001|55=MSFT|38=100|40=2|44=10.5|59=1|150=I|39=0|14=0|151=100";
const AT: Timestamp = Timestamp(1);

fn translator() -> FixTranslator {
    let mut translator = FixTranslator::new(Dialect::shipped("deribit").expect("it is shipped"), 7);
    translator.begun_millis = ORDERS.begun_millis;
    translator
}

fn reading<T>(body: &str, read: impl FnOnce(&FixMessage<'_>) -> T) -> T {
    let body = format!("{body}|").replace('|', "\x01");
    let mut frame = format!("8=FIX.4.4\x019={}\x01{body}", body.len()).into_bytes();
    let sum = frame.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    frame.extend(format!("10={sum:03}\x01").bytes());
    read(&FixDecoder::new().decode(&frame).expect("a message"))
}

fn ids(orders: &[VenueOrder]) -> Vec<OrderId> {
    orders.iter().map(|seen| seen.order).collect()
}

#[test]
fn an_open_order_is_listed() {
    let (translator, mut list) = (translator(), OpenOrderList::default());
    list.begin(ORDERS, AT);
    let step = reading(&format!("{OPEN}|584=Ma-3|911=1|912=Y"), |message| list.on_message(&translator, message));
    let OrderListStep::Done(report) = step else { panic!("{step:?}") };
    let ReportKind::OpenOrders(OpenOrdersPage { orders, .. }) = *report else { panic!("{report:?}") };
    assert_eq!(ids(&orders), [OrderId(1)]);
}

#[test]
fn an_order_is_part_of_the_snapshot() {
    let mut translator = translator();
    translator.on_executions_asked(TRADES, None);
    let mut answers = SnapshotAnswers::new(ORDERS, TRADES);
    for message in [&format!("{OPEN}|584=Ma-3|911=1|912=Y"), "35=AQ|568=Ta-4|748=0|749=0|750=1"] {
        assert!(reading(message, |message| answers.on_message(&mut translator, message)));
    }
    assert!(answers.is_complete());
    assert_eq!(ids(&answers.into_snapshot(&mut translator, AT).orders), [OrderId(1)]);
}

const REFUSED: &str = "35=8|37=NONE|17=0|150=I|39=8|14=0|151=0|584=Ma-3|911=0|103=99|58=busy";

#[test]
fn a_list_that_is_refused_is_not_an_empty_one() {
    let (mut translator, mut list) = (translator(), OpenOrderList::default());
    list.begin(ORDERS, AT);
    let step = reading(REFUSED, |message| list.on_message(&translator, message));
    let OrderListStep::Done(report) = step else { panic!("{step:?}") };
    let expected = ReportKind::ListingFailed { scope: ListingScope::OpenOrders, reason: "busy".into() };
    assert_eq!(*report, expected);
    let mut answers = SnapshotAnswers::new(ORDERS, TRADES);
    assert!(reading(REFUSED, |message| answers.on_message(&mut translator, message)));
    assert!(answers.is_refused());
}
