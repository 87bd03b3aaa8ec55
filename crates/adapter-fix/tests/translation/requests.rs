//! Orders, cancels, replaces and questions as messages; what the dialect does not offer is refused.

use std::collections::BTreeSet;

use adapter_fix::{
    CaptureScope, ClientIds, Dialect, FixVersion, MarketDataFeed, MessageCheck, QuestionId, SHIPPED_DIALECTS,
    SecurityList, SecurityStatuses, check_logons, mass_status, new_order, order_status, position_request, read_dialect,
    shipped_dialect, trade_capture,
};
use domain::order::OrderTerms;
use domain::report::AdapterCapabilities;
use domain::{Order, OrderKind, OrderProperties, PassThrough, PassedField, SecurityId, Side, TimeInForce};
use expect_test::expect;
use fix::OutgoingMessage;

use crate::story::{INSTANCE, Story, context, order, shown, terms};

const QUESTION: QuestionId = QuestionId { begun_millis: 10, number: 1 };

fn ids(dialect: &Dialect) -> ClientIds {
    ClientIds::new(INSTANCE, dialect.ids.clone())
}

fn all_terms() -> Vec<OrderTerms> {
    let (limit, stop) = ("10.50".parse().unwrap(), "10.4".parse().unwrap());
    let kinds =
        [OrderKind::Market, OrderKind::Limit { limit }, OrderKind::Stop { stop }, OrderKind::StopLimit { limit, stop }];
    let until = "2026-12-31T22:00:00Z".parse().unwrap();
    let tifs = [
        TimeInForce::Day,
        TimeInForce::Gtc,
        TimeInForce::Ato,
        TimeInForce::Ioc,
        TimeInForce::Fok,
        TimeInForce::Gtd { until },
        TimeInForce::Atc,
    ];
    let of = |kind| tifs.map(|tif| OrderTerms { quantity: 100.into(), kind, tif });
    kinds.into_iter().flat_map(of).collect()
}

#[test]
fn every_message_of_every_dialect_keeps_to_its_dictionary() {
    for (name, _) in SHIPPED_DIALECTS {
        let dialect = Dialect::shipped(name).unwrap();
        let mut check = MessageCheck::new(&dialect);
        let mut sent = 0;
        for terms in all_terms() {
            let order = Order { terms, side: Side::Sell, ..order(1) };
            let Ok(message) = new_order(&dialect, &ids(&dialect), &order, &context()) else { continue };
            assert_eq!(check.check(&message), Ok(()), "{name}: {}", shown(&Ok(message)));
            sent += 1;
        }
        assert!(sent > 0, "{name}");
        let order = Order { ext_id: Some("V1".into()), request: 1, ..order(1) };
        let known = domain::WireId { instance: INSTANCE, order: order.id, request: 0 };
        let others = [
            adapter_fix::cancel(&dialect, &ids(&dialect), &order, known, &context()),
            adapter_fix::replace(&dialect, &ids(&dialect), (&order, known), terms(60, "10"), &context()),
            order_status(&dialect, &ids(&dialect), &order, known, &context()),
            mass_status(&dialect, QUESTION, true),
            trade_capture(&dialect, &ids(&dialect), QUESTION, CaptureScope::Order(known)),
            trade_capture(&dialect, &ids(&dialect), QUESTION, CaptureScope::Since(context().at)),
            position_request(&dialect, QUESTION, "DESK", context().at),
        ];
        let is_old = dialect.version == FixVersion::Fix42;
        let others = others.into_iter().take(if is_old { 4 } else { 7 });
        for message in others.flatten().chain(questions(&dialect)) {
            assert_eq!(check.check(&message), Ok(()), "{name}: {}", shown(&Ok(message)));
        }
        assert_eq!(check_logons(&dialect), Ok(()), "{name}");
    }
}

/// For prices (V), the security list (x) and the status of a security (e), where the dialect has them.
fn questions(dialect: &Dialect) -> Vec<OutgoingMessage> {
    let mut all = Vec::new();
    if let Some(rules) = &dialect.market_data {
        let mut feed = MarketDataFeed::new("FIX-MAIN".into(), rules.clone(), context().at);
        all.push(feed.subscribe(SecurityId(1), "MSFT"));
        all.extend(feed.unsubscribe(SecurityId(1)));
    }
    all.extend(dialect.security_list.clone().map(|rules| SecurityList::new(rules, 10).request()));
    all.extend(dialect.security_status.clone().map(|rules| SecurityStatuses::new(rules, 10).request("MSFT")));
    all
}

#[test]
fn every_question_for_prices_and_securities_is_asked_by_one_of_the_dialects() {
    let dialects = SHIPPED_DIALECTS.iter().filter_map(|(name, _)| Dialect::shipped(name));
    let asked = dialects.flat_map(|dialect| questions(&dialect)).map(|message| message.msg_type().to_vec());
    assert_eq!(asked.collect::<BTreeSet<_>>(), BTreeSet::from([b"V".to_vec(), b"e".to_vec(), b"x".to_vec()]));
}

/// The engine refuses what is not offered, so that no order is accepted that cannot be sent.
#[test]
fn what_a_dialect_offers_is_what_it_can_send() {
    for (name, _) in SHIPPED_DIALECTS {
        let dialect = Dialect::shipped(name).unwrap();
        let order_types = Some(dialect.orders.offered_types());
        let capabilities = AdapterCapabilities { order_types, ..AdapterCapabilities::default() };
        for terms in all_terms() {
            let message = new_order(&dialect, &ids(&dialect), &Order { terms, ..order(1) }, &context());
            let refused = message.err().map(|refusal| refusal.code).filter(|code| *code != "venue-field");
            let told = capabilities.check_terms(&terms).err().map(|refusal| refusal.code());
            assert_eq!(told, refused, "{name}: {} {}", terms.kind.name(), terms.tif.name());
        }
    }
}

#[test]
fn every_type_with_every_time_in_force() {
    let dialect = Dialect::shipped("quickfix-ordermatch").unwrap();
    let lines = all_terms().into_iter().map(|terms| {
        let message = new_order(&dialect, &ids(&dialect), &Order { terms, ..order(1) }, &context());
        format!("{} {}: {}\n", terms.kind.name(), terms.tif.name(), shown(&message))
    });
    let lines: String = lines.filter(|line| !line.contains("venue-order-type")).collect();
    expect![[r#"
        LimitOrder DAY: 35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=0|60=20261116-12:00:00.000
        LimitOrder GTC: venue-tif: the venue has no orders with GTC
        LimitOrder ATO: venue-tif: the venue has no orders with ATO
        LimitOrder IOC: venue-tif: the venue has no orders with IOC
        LimitOrder FOK: venue-tif: the venue has no orders with FOK
        LimitOrder GTD: venue-tif: the venue has no orders with GTD
        LimitOrder ATC: venue-tif: the venue has no orders with ATC
    "#]]
    .assert_eq(&lines);
    let generic = Dialect::shipped("generic-44").unwrap();
    let lines = all_terms().into_iter().skip(7).map(|terms| {
        let order = Order { terms, ..order(1) };
        shown(&new_order(&generic, &ids(&generic), &order, &context())) + "\n"
    });
    let lines: String = lines.step_by(5).collect();
    expect![[r#"
        35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=0|60=20261116-12:00:00.000
        35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=6|60=20261116-12:00:00.000|126=20261231-22:00:00.000
        35=D|11=R7-1-0|21=1|38=100|40=3|54=1|55=MSFT|59=3|60=20261116-12:00:00.000|99=10.4
        35=D|11=R7-1-0|21=1|38=100|40=4|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000|99=10.4
        35=D|11=R7-1-0|21=1|38=100|40=4|44=10.5|54=1|55=MSFT|59=7|60=20261116-12:00:00.000|99=10.4
    "#]]
    .assert_eq(&lines);
}

#[test]
fn properties_and_fields_of_the_dialect_are_added_or_refused() {
    let text = "name = 'x'\nversion = 'FIX.4.4'\n[orders]\naccount = true\n[orders.types]\nlimit = '2'\n\
                [orders.timesInForce]\ngtc = '1'\n[orders.properties]\npostOnly = { tag = 18, value = '6' }\n\
                [[fields]]\ntag = 15\nvalue = '{currency}'\n[[fields]]\nmessages = ['D', 'F']\ntag = 7001\n\
                value = '{order}'\n[[fields]]\ntag = 207\nvalue = '{exchange}'\n[ids]\nseparator = 'x'\nlengthMax = 8\n";
    let dialect = Dialect::parse(text).unwrap();
    let told = |order: &Order| shown(&new_order(&dialect, &ids(&dialect), order, &context())) + "\n";
    let post_only = OrderProperties { post_only: true, ..OrderProperties::default() };
    let hidden = OrderProperties { display_quantity: Some(10.into()), ..OrderProperties::default() };
    let lines = [
        told(&Order { properties: post_only, ..order(71) }),
        told(&Order { properties: hidden, ..order(1) }),
        told(&order(36 * 36 * 36 * 36)),
        shown(&new_order(
            &dialect,
            &ids(&dialect),
            &order(1),
            &adapter_fix::OrderContext { exchange: None, ..context() },
        )),
    ];
    expect![[r#"
        35=D|1=DESK|11=R7x1Zx0|15=USD|18=6|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000|207=XNAS|7001=TEST-71
        venue-property: displayQuantity: the venue does not offer it
        venue-id-length: R7x10000x0 has more than the 8 characters that the venue takes
        venue-field: tag 207: there is no value for it"#]]
    .assert_eq(&lines.concat());
    assert_eq!(ids(&dialect).read("R7x1Zx0").map(|id| id.order.0), Some(71));
    assert_eq!(ids(&dialect).read("R8x1Zx0"), None, "of another installation");
}

/// The onboarding of a broker: who trades and for whom, as docs/fix-out.md shows it.
const PARTIES: &str = "[[groups]]\ntag = 453\nentries = [\n\
    [{ tag = 448, value = 'RIALTO-1' }, { tag = 447, value = 'D' }, { tag = 452, value = '12' }],\n\
    [{ tag = 448, value = '{account}' }, { tag = 447, value = 'D' }, { tag = 452, value = '24' }],\n]\n\
    [[groups]]\nmessages = ['F']\ntag = 453\nentries = [[{ tag = 448, value = 'RIALTO-1' }, { tag = 5453, value = 'x' }]]\n\
    [[groups]]\nmessages = ['AF']\ntag = 453\nentries = [[{ tag = 448, value = 'RIALTO-1' }]]\n";

#[test]
fn a_repeating_group_of_the_dialect_stands_whole_and_in_the_order_of_its_entries() {
    let dialect = read_dialect(&(shipped_dialect("generic-44").unwrap().to_owned() + PARTIES)).unwrap();
    let (ids, mut check) = (ids(&dialect), MessageCheck::new(&dialect));
    let replaced = Order { request: 1, ..order(1) };
    let known = domain::WireId { instance: INSTANCE, order: replaced.id, request: 0 };
    let nameless = adapter_fix::OrderContext { account: None, ..context() };
    let messages = [
        new_order(&dialect, &ids, &order(1), &context()),
        adapter_fix::replace(&dialect, &ids, (&replaced, known), terms(60, "10"), &context()),
        adapter_fix::cancel(&dialect, &ids, &replaced, known, &context()),
        mass_status(&dialect, QUESTION, false),
        new_order(&dialect, &ids, &order(1), &nameless),
    ];
    for message in messages.iter().flatten() {
        assert_eq!(check.check(message), Ok(()));
    }
    let lines: String = messages.iter().map(|message| shown(message) + "\n").collect();
    expect![[r#"
        35=D|11=R7-1-0|21=1|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000|453=2|448=RIALTO-1|447=D|452=12|448=DESK|447=D|452=24
        35=G|11=R7-1-1|21=1|38=60|40=2|41=R7-1-0|44=10|54=1|55=MSFT|59=1|60=20261116-12:00:00.000|453=2|448=RIALTO-1|447=D|452=12|448=DESK|447=D|452=24
        35=F|11=R7-1-1|38=100|41=R7-1-0|54=1|55=MSFT|60=20261116-12:00:00.000|453=1|448=RIALTO-1|5453=x
        35=AF|453=1|448=RIALTO-1|584=Ma-1|585=7
        venue-field: tag 448: there is no value for it
    "#]]
    .assert_eq(&lines);
}

#[test]
fn an_order_has_the_isin_of_its_security_and_is_refused_where_there_is_none() {
    let fields = "[[fields]]\nmessages = ['D', 'F']\ntag = 48\nvalue = '{isin}'\n\
                  [[fields]]\nmessages = ['D', 'F']\ntag = 22\nvalue = '4'\n";
    let dialect = read_dialect(&(shipped_dialect("generic-44").unwrap().to_owned() + fields)).unwrap();
    let (ids, mut check) = (ids(&dialect), MessageCheck::new(&dialect));
    let canceled = Order { request: 1, ..order(1) };
    let known = domain::WireId { instance: INSTANCE, order: canceled.id, request: 0 };
    let unnamed = adapter_fix::OrderContext { isin: None, ..context() };
    let messages = [
        new_order(&dialect, &ids, &order(1), &context()),
        adapter_fix::cancel(&dialect, &ids, &canceled, known, &context()),
        new_order(&dialect, &ids, &order(1), &unnamed),
    ];
    for message in messages.iter().flatten() {
        assert_eq!(check.check(message), Ok(()));
    }
    let lines: String = messages.iter().map(|message| shown(message) + "\n").collect();
    expect![[r#"
        35=D|11=R7-1-0|21=1|22=4|38=100|40=2|44=10.5|48=US5949181045|54=1|55=MSFT|59=1|60=20261116-12:00:00.000
        35=F|11=R7-1-1|22=4|38=100|41=R7-1-0|48=US5949181045|54=1|55=MSFT|60=20261116-12:00:00.000
        venue-field: tag 48: the security has no ISIN
    "#]]
    .assert_eq(&lines);
}

#[test]
fn what_the_venue_does_not_take_is_not_sent() {
    let mut story = Story::new("quickfix-executor");
    story.cancel(&Order { request: 1, ..order(1) });
    story.replace(&Order { request: 1, ..order(1) }, terms(50, "10"));
    let dialect = Dialect::shipped("quickfix-executor").unwrap();
    let known = story.translator.chains.known_id(INSTANCE, &order(1));
    let status = order_status(&dialect, &ids(&dialect), &order(1), known, &context());
    story.told += &shown(&status);
    expect![[r#"
        > venue-no-cancel: the venue takes no cancels
        > venue-no-replace: the venue takes no replaces
        venue-no-status: the venue answers no questions about an order"#]]
    .assert_eq(&story.told);
}

#[test]
fn fields_of_the_client_go_on_as_they_came_where_the_dialect_passes_them() {
    let text = "name = 'x'\nversion = 'FIX.4.4'\n[orders]\npassThrough = [5001, 528]\n[orders.types]\nlimit = '2'\n\
                [orders.timesInForce]\ngtc = '1'\n[[fields]]\ntag = 526\nvalue = '{clOrdId}'\n";
    let dialect = Dialect::parse(text).unwrap();
    let with = |fields: &[(u32, &str)]| {
        let fields = fields.iter().map(|(tag, value)| PassedField { tag: *tag, value: (*value).into() });
        Order { pass_through: PassThrough::new(fields.collect()), cl_ord_id: Some("mine".into()), ..order(1) }
    };
    let mut check = MessageCheck::new(&dialect);
    let mut lines = String::new();
    for order in [with(&[(5001, "desk 7"), (528, "A")]), with(&[(5001, "x"), (5002, "y")]), with(&[(528, "?")])] {
        let message = new_order(&dialect, &ids(&dialect), &order, &context());
        let checked = message.as_ref().map(|message| check.check(message));
        lines += &format!("{}\n", checked.map_or_else(|_| String::new(), |checked| format!("{checked:?}")));
        lines += &(shown(&message) + "\n");
    }
    let replaced = Order { request: 1, ..with(&[(5001, "desk 7")]) };
    let known = domain::WireId { instance: INSTANCE, order: replaced.id, request: 0 };
    lines += &shown(&adapter_fix::replace(&dialect, &ids(&dialect), (&replaced, known), terms(60, "10"), &context()));
    expect![[r#"
        Ok(())
        35=D|11=R7-1-0|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000|526=mine|528=A|5001=desk 7

        venue-field: tag 5002: the venue does not take it
        Err(RequestRefusal { code: "venue-message", reason: "message D breaks the dictionary: Value is incorrect (out of range) for this tag (tag 528)" })
        35=D|11=R7-1-0|38=100|40=2|44=10.5|54=1|55=MSFT|59=1|60=20261116-12:00:00.000|526=mine|528=?
        35=G|11=R7-1-1|38=60|40=2|41=R7-1-0|44=10|54=1|55=MSFT|59=1|60=20261116-12:00:00.000|526=mine|5001=desk 7"#]]
    .assert_eq(&lines);
}
