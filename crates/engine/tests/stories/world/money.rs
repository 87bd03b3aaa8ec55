//! Words of a venue about money: entries, statements, and the details of fills; and how bookings are shown.

use domain::report::{FilledTotal, ReportKind, VenueBalance, VenueEntry, VenueFill, VenuePosition, VenueStatement};
use domain::{AccountId, Charge, ChargeKind, EntryKind, Liquidity, Position, Timestamp, Transaction};

use super::fixture::security;
use super::show;

/// `books ID KIND ACCOUNT AMOUNT CURRENCY [of [QUANTITY] SYMBOL]` and `states ACCOUNT SECONDS ago PARTS`.
pub(super) fn said(now: Timestamp, words: &[&str]) -> Option<ReportKind> {
    match words {
        ["books", id, kind, account, amount, currency, rest @ ..] => {
            Some(entry((id, kind), account, (amount, currency), rest))
        }
        ["states", account, seconds, "ago", parts @ ..] => Some(statement(now, account, seconds, parts)),
        _ => None,
    }
}

fn entry((id, kind): (&str, &str), account: &str, (amount, currency): (&str, &str), rest: &[&str]) -> ReportKind {
    let (security, quantity) = match rest {
        [] => (None, None),
        ["of", symbol] => (Some(security(symbol)), None),
        ["of", quantity, symbol] => (Some(security(symbol)), Some(quantity.parse().unwrap())),
        other => panic!("not an entry: {other:?}"),
    };
    ReportKind::Entry(VenueEntry {
        ext_id: id.into(),
        kind: EntryKind::ALL.into_iter().find(|known| known.name() == kind).unwrap(),
        account: AccountId(account.parse().unwrap()),
        currency: currency.parse().unwrap(),
        amount: amount.parse().unwrap(),
        security,
        quantity,
        at: None,
    })
}

/// `USD:99000:locked:50 ES:2`, and `partly` where the statement is not complete.
fn statement(now: Timestamp, account: &str, seconds_ago: &str, parts: &[&str]) -> ReportKind {
    let seconds: i64 = seconds_ago.parse().unwrap();
    let is_complete = !parts.contains(&"partly");
    let mut statement = VenueStatement {
        as_of: now.plus_seconds(-seconds),
        account: AccountId(account.parse().unwrap()),
        cash: vec![],
        positions: vec![],
        cash_complete: is_complete,
        positions_complete: is_complete,
    };
    for part in parts.iter().filter(|part| part.contains(':')) {
        match part.split(':').collect::<Vec<_>>()[..] {
            [currency, total, "locked", locked] => statement.cash.push(VenueBalance {
                currency: currency.parse().unwrap(),
                total: total.parse().unwrap(),
                locked: locked.parse().unwrap(),
            }),
            [symbol, quantity] => statement
                .positions
                .push(VenuePosition { security: security(symbol), quantity: quantity.parse().unwrap() }),
            _ => panic!("not a part of a statement: {part}"),
        }
    }
    ReportKind::Statement(statement)
}

/// `charging 0.5`, `charging FEE 0.0002 BNB …`, `as maker`, `of LEG`, `at 12:00:05`.
pub(super) fn detailed(fill: VenueFill, details: &[&str]) -> VenueFill {
    match details {
        [] => fill,
        ["charging", fee] => VenueFill { fee: Some(fee.parse().unwrap()), ..fill },
        ["charging", charges @ ..] => VenueFill { charges: charges.chunks(3).map(charge).collect(), ..fill },
        ["as", "maker"] => VenueFill { liquidity: Some(Liquidity::Maker), ..fill },
        ["as", "taker"] => VenueFill { liquidity: Some(Liquidity::Taker), ..fill },
        ["at", time] => VenueFill { at: Some(today(time)), ..fill },
        ["of", leg] => VenueFill { ext_order: Some((*leg).into()), ..fill },
        other => panic!("not a fill: {other:?}"),
    }
}

/// By the venue's clock.
fn today(time: &str) -> Timestamp {
    format!("2026-11-16T{time}Z").parse().unwrap()
}

/// `total:100@10.5/12:00:05`; without a time where the venue tells none.
pub(super) fn filled_total(words: &str) -> Option<FilledTotal> {
    let (quantity, average) = words.strip_prefix("total:")?.split_once('@')?;
    let (average, at) = average.split_once('/').map_or((average, None), |(average, time)| (average, Some(today(time))));
    Some(FilledTotal { quantity: quantity.parse().unwrap(), average_price: average.parse().unwrap(), at })
}

/// `FEE 0.0002 BNB`
pub(super) fn charge(words: &[&str]) -> Charge {
    let kind = ChargeKind::ALL.into_iter().find(|kind| kind.name() == words[0]);
    Charge { kind: kind.unwrap(), amount: words[1].parse().unwrap(), currency: words[2].parse().unwrap() }
}

pub(super) fn transaction_line(booked: &Transaction) -> String {
    let charges =
        booked.charges.iter().map(|charge| format!(", {} {} {}", charge.kind.name(), charge.amount, charge.currency));
    let is_charge = booked.kind.cash_sign().is_some() && booked.int_order_id.is_some();
    let of = booked.int_order_id.as_ref().filter(|_| is_charge);
    let of = of.map_or(String::new(), |order| format!(" {} of order {order}", booked.currency));
    let is_settled = booked.settlement_date.is_some();
    let why = booked.description.as_ref().filter(|_| is_settled).map_or(String::new(), |text| format!(" ({text})"));
    let venue = booked.venue_kind.map_or(String::new(), |kind| {
        format!(
            " {}, {} {} of strategy {}",
            booked.currency,
            kind.name(),
            show(booked.ext_id.as_ref()),
            booked.strategy
        )
    });
    format!(
        "booked {} {} @ {}{of}{}{why}{venue}{}",
        booked.kind.name(),
        booked.quantity,
        booked.price,
        charges.collect::<String>(),
        liquidity_word(booked.liquidity)
    )
}

pub(super) fn liquidity_word(liquidity: Option<Liquidity>) -> &'static str {
    match liquidity {
        None => "",
        Some(Liquidity::Maker) => " as maker",
        Some(Liquidity::Taker) => " as taker",
    }
}

pub(super) fn cost_line(position: &Position) -> String {
    let Position { security, realized_pl, commissions, fees, .. } = position;
    format!("position {security} realised {realized_pl}, commissions {commissions}, fees {fees}")
}

pub(super) fn sample_line(sample: &domain::ValueSample) -> String {
    let text = |amount: Option<domain::Amount>| amount.map_or("?".to_string(), |amount| amount.to_string());
    let [worth, cash, market] = [sample.net_liq_value, sample.cash_balance, sample.market_value].map(text);
    let [long, short, result, flow] =
        [sample.long_exposure, sample.short_exposure, sample.day_result, sample.day_flow].map(text);
    let [realised, unrealised] = [sample.realized_pl, sample.unrealized_pl].map(text);
    let [commissions, fees] = [sample.commissions, sample.fees].map(text);
    format!(
        "sample {} {}{}: {worth} = {cash} + {market}, long {long} short {short}, P/L {realised} + {unrealised}, costs \
         {commissions} + {fees}, day {result} flow {flow}",
        sample.scope,
        sample.date,
        if sample.is_close { " close" } else { "" },
    )
}
