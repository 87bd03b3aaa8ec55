//! Every type and time in force of ours at the venue, and what comes back.

use adapter_binance::client_id::{client_id, read_client_id};
use adapter_binance::order_mapping::{
    ReplaceWay, ShownTerms, TicketRefusal, replace_way, replacement_quantity, side_of, terms_of, ticket_of,
};
use adapter_binance::protocol::requests::OrderTicket;
use adapter_binance::protocol::venue_enums::{BinanceOrderType, BinanceSide, BinanceTif};
use domain::order::OrderTerms;
use domain::{OrderKind, OrderProperties, Price, Quantity, Side, TimeInForce, Timestamp};
use expect_test::expect;

pub(crate) fn price(text: &str) -> Price {
    text.parse().unwrap()
}

pub(crate) fn terms(kind: OrderKind, tif: TimeInForce) -> OrderTerms {
    OrderTerms { quantity: Quantity::from(10), kind, tif }
}

fn kinds() -> [OrderKind; 4] {
    let (limit, stop) = (price("1.5"), price("1.4"));
    [OrderKind::Market, OrderKind::Limit { limit }, OrderKind::Stop { stop }, OrderKind::StopLimit { limit, stop }]
}

fn tifs() -> [TimeInForce; 7] {
    let until: Timestamp = "2026-12-31T22:00:00Z".parse().unwrap();
    [
        TimeInForce::Day,
        TimeInForce::Gtc,
        TimeInForce::Gtd { until },
        TimeInForce::Ioc,
        TimeInForce::Fok,
        TimeInForce::Ato,
        TimeInForce::Atc,
    ]
}

pub(crate) fn ticket(terms: OrderTerms, properties: OrderProperties) -> Result<OrderTicket, TicketRefusal> {
    let id = client_id("R1-1Z-0", terms.tif).unwrap();
    ticket_of("BTCUSDT", Side::Sell, terms, properties, id)
}

fn shown(ticket: &Result<OrderTicket, TicketRefusal>) -> String {
    match ticket {
        Ok(ticket) => {
            let tif = ticket.tif.as_ref().map_or("-", BinanceTif::as_str);
            format!("{} {tif} {}", ticket.kind, ticket.client_id)
        }
        Err(refusal) => refusal.to_string(),
    }
}

#[test]
fn every_type_with_every_time_in_force() {
    let mut lines = String::new();
    for post_only in [false, true] {
        let properties = OrderProperties { post_only, ..OrderProperties::default() };
        for kind in kinds() {
            // Other types cannot be post-only with any time in force.
            let is_refused = post_only && !matches!(kind, OrderKind::Limit { .. });
            for tif in tifs().into_iter().take(if is_refused { 1 } else { tifs().len() }) {
                let post_only = if post_only { " post-only" } else { "" };
                let asked = format!("{} {}{post_only}", kind.name(), tif.name());
                lines.push_str(&format!("{asked} => {}\n", shown(&ticket(terms(kind, tif), properties))));
            }
        }
    }
    expect![[r#"
        MarketOrder DAY => MARKET - R1-1Z-0_D
        MarketOrder GTC => MARKET - R1-1Z-0
        MarketOrder GTD => MARKET - R1-1Z-0_T6B36D060
        MarketOrder IOC => MARKET - R1-1Z-0_I
        MarketOrder FOK => venue-tif: the venue has no MARKET with FOK
        MarketOrder ATO => venue-tif: the venue has no MARKET with ATO
        MarketOrder ATC => venue-tif: the venue has no MARKET with ATC
        LimitOrder DAY => LIMIT GTC R1-1Z-0_D
        LimitOrder GTC => LIMIT GTC R1-1Z-0
        LimitOrder GTD => LIMIT GTC R1-1Z-0_T6B36D060
        LimitOrder IOC => LIMIT IOC R1-1Z-0_I
        LimitOrder FOK => LIMIT FOK R1-1Z-0
        LimitOrder ATO => venue-tif: the venue has no LIMIT with ATO
        LimitOrder ATC => venue-tif: the venue has no LIMIT with ATC
        StopOrder DAY => STOP_LOSS - R1-1Z-0_D
        StopOrder GTC => STOP_LOSS - R1-1Z-0
        StopOrder GTD => STOP_LOSS - R1-1Z-0_T6B36D060
        StopOrder IOC => venue-tif: the venue has no STOP_LOSS with IOC
        StopOrder FOK => venue-tif: the venue has no STOP_LOSS with FOK
        StopOrder ATO => venue-tif: the venue has no STOP_LOSS with ATO
        StopOrder ATC => venue-tif: the venue has no STOP_LOSS with ATC
        StopLimitOrder DAY => STOP_LOSS_LIMIT GTC R1-1Z-0_D
        StopLimitOrder GTC => STOP_LOSS_LIMIT GTC R1-1Z-0
        StopLimitOrder GTD => STOP_LOSS_LIMIT GTC R1-1Z-0_T6B36D060
        StopLimitOrder IOC => STOP_LOSS_LIMIT IOC R1-1Z-0_I
        StopLimitOrder FOK => STOP_LOSS_LIMIT FOK R1-1Z-0
        StopLimitOrder ATO => venue-tif: the venue has no STOP_LOSS_LIMIT with ATO
        StopLimitOrder ATC => venue-tif: the venue has no STOP_LOSS_LIMIT with ATC
        MarketOrder DAY post-only => venue-property: postOnly: only limit orders can be post-only at this venue
        LimitOrder DAY post-only => LIMIT_MAKER - R1-1Z-0_D
        LimitOrder GTC post-only => LIMIT_MAKER - R1-1Z-0
        LimitOrder GTD post-only => LIMIT_MAKER - R1-1Z-0_T6B36D060
        LimitOrder IOC post-only => venue-tif: the venue has no LIMIT_MAKER with IOC
        LimitOrder FOK post-only => venue-tif: the venue has no LIMIT_MAKER with FOK
        LimitOrder ATO post-only => venue-tif: the venue has no LIMIT_MAKER with ATO
        LimitOrder ATC post-only => venue-tif: the venue has no LIMIT_MAKER with ATC
        StopOrder DAY post-only => venue-property: postOnly: only limit orders can be post-only at this venue
        StopLimitOrder DAY post-only => venue-property: postOnly: only limit orders can be post-only at this venue
    "#]]
    .assert_eq(&lines);
}

#[test]
fn what_the_venue_shows_has_the_terms_that_were_asked_for() {
    for kind in kinds() {
        for tif in tifs() {
            let asked = terms(kind, tif);
            let Ok(ticket) = ticket(asked, OrderProperties::default()) else { continue };
            // The venue shows a time in force for every type; orders without one are GTC there.
            let shown = ShownTerms {
                kind: &ticket.kind,
                tif: &ticket.tif.clone().unwrap_or(BinanceTif::Gtc),
                quantity: Quantity(ticket.quantity),
                price: Price(ticket.price.unwrap_or_default()),
                stop_price: ticket.stop_price.map(Price),
                marked: read_client_id(&ticket.client_id).tif,
            };
            assert_eq!(terms_of(&shown), Some(asked));
        }
    }
    let (kind, tif) = (BinanceOrderType::Other("PEGGED".to_owned()), BinanceTif::Gtc);
    let (quantity, price, stop_price) = (Quantity::from(1), price("1"), None);
    let odd = ShownTerms { kind: &kind, tif: &tif, quantity, price, stop_price, marked: None };
    assert_eq!(terms_of(&odd), None);
    let tif = BinanceTif::Other("GTX".to_owned());
    assert_eq!(terms_of(&ShownTerms { kind: &BinanceOrderType::Limit, tif: &tif, ..odd }), None);
    let triggered = ShownTerms { kind: &BinanceOrderType::TakeProfit, stop_price: Some(self::price("2")), ..odd };
    assert_eq!(terms_of(&triggered).map(|terms| terms.kind), Some(OrderKind::Stop { stop: self::price("2") }));
    assert_eq!(terms_of(&ShownTerms { stop_price: None, ..triggered }), None, "a trigger without its price");
    assert_eq!([side_of(&BinanceSide::Buy), side_of(&"BOTH".into())], [Some(Side::Buy), None]);
}

#[test]
fn properties_become_types_and_icebergs_or_are_refused() {
    let limit = OrderKind::Limit { limit: price("1.5") };
    let visible =
        |quantity: i64| OrderProperties { display_quantity: Some(quantity.into()), ..OrderProperties::default() };
    let iceberg = ticket(terms(limit, TimeInForce::Day), visible(2)).unwrap();
    assert_eq!(iceberg.iceberg, Some(2.into()));
    let min_quantity = OrderProperties { min_quantity: Some(5.into()), ..OrderProperties::default() };
    let refused = [
        ticket(terms(limit, TimeInForce::Ioc), visible(2)),
        ticket(terms(OrderKind::Market, TimeInForce::Day), visible(2)),
        ticket(terms(limit, TimeInForce::Gtc), visible(11)),
        ticket(terms(limit, TimeInForce::Gtc), min_quantity),
    ];
    let lines: String = refused.iter().map(|refused| format!("{}\n", shown(refused))).collect();
    expect![[r#"
        venue-property: displayQuantity: an iceberg rests at the venue, so it cannot be IOC or FOK
        venue-property: displayQuantity: the venue has icebergs of orders with a limit only
        venue-property: displayQuantity: more would be shown than the order has
        venue-property: minQuantity: the venue has no minimum quantity
    "#]]
    .assert_eq(&lines);
}

#[test]
fn a_replace_takes_the_way_that_keeps_the_most() {
    let limit = |text: &str| OrderKind::Limit { limit: price(text) };
    let of = |quantity: i64, kind, tif| OrderTerms { quantity: quantity.into(), kind, tif };
    let before = of(10, limit("1.5"), TimeInForce::Gtc);
    let less = of(6, limit("1.5"), TimeInForce::Gtc);
    let more = of(12, limit("1.5"), TimeInForce::Gtc);
    let dearer = of(6, limit("1.6"), TimeInForce::Gtc);
    let day = of(6, limit("1.5"), TimeInForce::Day);
    let ways = [less, more, dearer, day, before].map(|after| {
        [(true, true), (false, true), (true, false), (false, false)]
            .map(|(has_amend, has_cancel_replace)| replace_way(&before, &after, has_amend, has_cancel_replace))
    });
    use ReplaceWay::{Amend, CancelReplace, Nothing, Unavailable};
    assert_eq!(
        ways,
        [
            [Amend, CancelReplace, Amend, Unavailable],
            [CancelReplace, CancelReplace, Unavailable, Unavailable],
            [CancelReplace, CancelReplace, Unavailable, Unavailable],
            [CancelReplace, CancelReplace, Unavailable, Unavailable],
            [Nothing; 4],
        ]
    );
    let rest = [0, 4, 6, 7].map(|filled: i64| replacement_quantity(&less, filled.into()));
    assert_eq!(rest, [Some(6.into()), Some(2.into()), None, None]);
}
