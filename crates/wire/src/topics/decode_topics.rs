//! Decoding of shared topics, for strategy processes.

use std::sync::Arc;

use domain::command::GenericEvent;
use domain::market::BookLevel;
use domain::{
    Bar, BarSize, Decimal, Event, OrderBook, Price, Quantity, ReferenceData, SecurityId, Side, StaleCause, Text, Tick,
    Timestamp, Trade,
};
use serde_json::Value;

use crate::number;

/// A tick, trade, bar or order book; `None` where the text is not in our format.
pub fn market_data(body: &[u8]) -> Option<Event> {
    let read: Value = serde_json::from_slice(body).ok()?;
    Some(match read["objectType"].as_str()? {
        "Tick" => Event::Tick(Arc::new(tick(&read)?)),
        "Trade" => Event::Trade(Arc::new(trade(&read)?)),
        "OrderBook" => Event::Book(Arc::new(book(&read)?)),
        "Bar" => Event::Bar(Arc::new(bar(&read)?)),
        _ => return None,
    })
}

/// A generic event of a strategy.
pub fn generic_event(body: &[u8], reference: &ReferenceData) -> Option<GenericEvent> {
    let read: Value = serde_json::from_slice(body).ok()?;
    let strategy = reference.strategy_named(read["strategyName"].as_str()?)?.id;
    Some(GenericEvent { strategy, name: text(&read["name"])?, body: text(&read["body"])? })
}

fn tick(read: &Value) -> Option<Tick> {
    Some(Tick {
        security: security(read)?,
        feed: text(&read["feed"])?,
        at: instant(&read["dateTime"])?,
        last: decimal(&read["last"]).map(Price),
        last_at: instant(&read["lastDateTime"]),
        vol_last: decimal(&read["volLast"]).map(Quantity),
        bid: decimal(&read["bid"]).map(Price),
        ask: decimal(&read["ask"]).map(Price),
        vol_bid: decimal(&read["volBid"]).map(Quantity),
        vol_ask: decimal(&read["volAsk"]).map(Quantity),
        vol: decimal(&read["vol"]).map(Quantity),
        stale: StaleCause::ALL.into_iter().find(|cause| read["stale"] == cause.name()),
    })
}

fn trade(read: &Value) -> Option<Trade> {
    Some(Trade {
        security: security(read)?,
        feed: text(&read["feed"])?,
        at: instant(&read["dateTime"])?,
        price: decimal(&read["price"]).map(Price)?,
        quantity: decimal(&read["quantity"]).map(Quantity)?,
        aggressor: match read["aggressorSide"].as_str() {
            Some("BUY") => Some(Side::Buy),
            Some("SELL") => Some(Side::Sell),
            _ => None,
        },
        ext_id: text(&read["extId"]),
    })
}

fn book(read: &Value) -> Option<OrderBook> {
    Some(OrderBook {
        security: security(read)?,
        feed: text(&read["feed"])?,
        at: instant(&read["dateTime"])?,
        bids: levels(&read["bids"])?,
        asks: levels(&read["asks"])?,
    })
}

fn levels(read: &Value) -> Option<Vec<BookLevel>> {
    let level = |read: &Value| {
        Some(BookLevel { price: Price(decimal(&read["price"])?), quantity: Quantity(decimal(&read["quantity"])?) })
    };
    read.as_array()?.iter().map(level).collect()
}

fn bar(read: &Value) -> Option<Bar> {
    let price = |key: &str| decimal(&read[key]).map(Price);
    let size = read["barSize"].as_str()?;
    Some(Bar {
        security: security(read)?,
        feed: text(&read["feed"])?,
        at: instant(&read["dateTime"])?,
        size: BarSize::ALL.into_iter().find(|known| known.name() == size)?,
        open: price("open")?,
        high: price("high")?,
        low: price("low")?,
        close: price("close")?,
        vol: Quantity(decimal(&read["vol"])?),
        vwap: price("vwap"),
    })
}

fn security(read: &Value) -> Option<SecurityId> {
    read["securityId"].as_u64().map(SecurityId)
}

fn text(read: &Value) -> Option<Text> {
    read.as_str().map(Text::from)
}

fn instant(read: &Value) -> Option<Timestamp> {
    read.as_i64().and_then(Timestamp::from_millis)
}

fn decimal(read: &Value) -> Option<Decimal> {
    read.as_number().and_then(|digits| number::decimal(&digits.to_string()).ok())
}

#[cfg(test)]
mod tests {
    use domain::{PublishedEvent, StrategyId, StrategyRecord};

    use super::*;
    use crate::topics;

    fn price(text: &str) -> Price {
        text.parse().unwrap()
    }

    fn some_of_each() -> Vec<Event> {
        let (security, feed, at) = (SecurityId(7), Text::from("ALPHA"), Timestamp(1_000_000_000));
        let level = |at: &str| BookLevel { price: price(at), quantity: Quantity::from(3) };
        let vol = Quantity::from(5);
        vec![
            Event::Tick(Arc::new(Tick {
                security,
                feed: feed.clone(),
                at,
                last: None,
                last_at: Some(at),
                vol_last: None,
                bid: Some(price("1.10001")),
                ask: Some(price("1.1")),
                vol_bid: Some(vol),
                vol_ask: None,
                vol: None,
                stale: None,
            })),
            Event::Trade(Arc::new(Trade {
                security,
                feed: feed.clone(),
                at,
                price: price("12.5"),
                quantity: vol,
                aggressor: Some(Side::Sell),
                ext_id: Some("T-1".into()),
            })),
            Event::Book(Arc::new(OrderBook {
                security,
                feed: feed.clone(),
                at,
                bids: vec![level("9"), level("8.5")],
                asks: vec![],
            })),
            Event::Bar(Arc::new(Bar {
                security,
                feed,
                at,
                size: BarSize::Min5,
                open: price("1"),
                high: price("2"),
                low: price("0.5"),
                close: price("1.5"),
                vol,
                vwap: None,
            })),
        ]
    }

    #[test]
    fn prices_come_back_as_they_were_published() {
        for event in some_of_each() {
            let published = PublishedEvent { sequence: 1, at: Timestamp(0), event };
            let body = topics::body(&published, &ReferenceData::default());
            assert_eq!(market_data(&body), Some(published.event));
        }
        assert_eq!(market_data(b"{}"), None);
        assert_eq!(market_data(b"not json"), None);
    }

    #[test]
    fn a_generic_event_comes_back_with_the_strategy_that_said_it() {
        let id = StrategyId(2);
        let strategy = Arc::new(StrategyRecord { id, name: "TREND".into(), auto_activate: false });
        let reference = ReferenceData { strategies: [(id, strategy)].into(), ..ReferenceData::default() };
        let event = GenericEvent { strategy: id, name: "fair".into(), body: r#"{"x":1}"#.into() };
        let body = topics::shared_body(&Event::Generic(Arc::new(event.clone())), &reference).unwrap();
        assert_eq!(generic_event(&body, &reference), Some(event));
    }
}
