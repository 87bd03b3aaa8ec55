#![allow(clippy::all, clippy::disallowed_methods)]
use std::sync::Arc;
use std::time::Instant;
use domain::command::MarketData;
use domain::*;
use crate::market::Market;
use crate::outbox::Outbox;
use crate::samples;

#[test]
#[ignore]
fn ticks() {
    let mut reference = ReferenceData::default();
    for id in 1..=1000 { reference.securities.insert(SecurityId(id), Arc::new(samples::security(id, SecurityKind::Stock, "USD", "1"))); }
    let mut market = Market::default();
    market.list(&reference);
    let feed: Text = "sim".into();
    let data: Vec<MarketData> = (0..4096u64).map(|n| {
        let p = |c: i64| Some(Price(Decimal::new(10_000 + c, 2)));
        let q = |c: i64| Some(Quantity(Decimal::new(c, 0)));
        let c = (n as i64 * 7919) % 100;
        MarketData::Tick(Tick { security: SecurityId(n * 7 % 1000 + 1), feed: feed.clone(), at: Timestamp(0), last: if n % 4 == 0 { p(c) } else { None }, last_at: None, vol_last: None, bid: p(c - 1), ask: p(c + 1), vol_bid: q(c + 1), vol_ask: q(c + 2), vol: None })
    }).collect();
    let mut out = Outbox::default();
    for round in 0..3 {
        let start = Instant::now();
        let n = 5_000_000u64;
        for i in 0..n {
            market.take(&data[(i % 4096) as usize], Timestamp((round * n + i) as i64 * 200), &mut out);
            if i % 100 == 99 { out.events.clear(); }
        }
        let t = start.elapsed();
        println!("{:.2} M ticks/s, {} ns each", n as f64 / t.as_secs_f64() / 1e6, t.as_nanos() as u64 / n);
    }
}

#[test]
#[ignore]
fn fills() {
    let mut reference = ReferenceData::default();
    for id in 1..=1000 { reference.securities.insert(SecurityId(id), Arc::new(samples::security(id, SecurityKind::Stock, "USD", "1"))); }
    let mut marks = crate::marks::Marks::default();
    for id in 1..=1000 { marks.absorb(&[Mark{security:SecurityId(id), bid: Some(Price::from(9)), ask: Some(Price::from(11)), last: None, at: Timestamp(0)}]); }
    let mut portfolio = crate::portfolio::Portfolio::default();
    let mut out = Outbox::default();
    for round in 0..3u64 {
        let n = 300_000u64;
        let start = Instant::now();
        for i in 0..n {
            let id = round * n + i + 1;
            let buy = i % 3 != 0;
            let t = Transaction { id: TransactionId(id), uuid: Uuid::mint(7, id), at: Timestamp(0), settlement_date: None, ext_id: None, int_order_id: None, ext_order_id: None,
              kind: if buy {TransactionKind::Buy} else {TransactionKind::Sell}, quantity: Quantity::from(if buy {10} else {-15}), price: Price(Decimal::new(1000 + (i as i64 % 37), 2)),
              execution_commission: Amount(Decimal::new(1, 2)), clearing_commission: Amount::ZERO, fee: Amount::ZERO, currency: Currency::USD, account: AccountId(i % 3 + 1), security: Some(SecurityId(i * 7 % 1000 + 1)), strategy: StrategyId(i % 4 + 1), description: None };
            let s = reference.securities.get(&t.security.unwrap()).cloned();
            let b = portfolio.plan(t, s.as_deref()).unwrap();
            let v = crate::portfolio::Valuer { marks: &marks, reference: &reference, base: Currency::USD, at: Timestamp(0) };
            portfolio.commit(b, &v, &mut out);
            if i % 100 == 99 { out.events.clear(); }
        }
        let t = start.elapsed();
        println!("{} ns each fill", t.as_nanos() as u64 / n);
    }
    let start = Instant::now();
    portfolio.roll(&crate::portfolio::Valuer { marks: &marks, reference: &reference, base: Currency::USD, at: Timestamp(0) });
    println!("roll {:?}", start.elapsed());
}
