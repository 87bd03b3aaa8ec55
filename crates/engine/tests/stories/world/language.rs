//! Script language of the scenarios: lines to commands.

use domain::breaks::{BreakStep, SettleBreak};
use domain::command::{
    CancelOrder, ClaimOrder, Command, ModifyOrder, PlaceOrder, RecordTransaction, ReducePosition, RestatedFields,
    SettlementPrice,
};
use domain::order::{OrderKind, OrderTerms, Side};
use domain::{
    AccountId, ExchangeId, OrderProperties, PositionId, Price, Quantity, RiskScope, StrategyId, TimeInForce, Timestamp,
    TransactionKind,
};

use super::NOON;
use super::fixture::{credit, security};

/// `place 7 buy 100 AAPL @ 10 [GTC]`, `place 7 sell 5 AAPL market`, `cancel 7`, `modify 7 to 50 @ 11`, …
pub(super) fn command(words: &[&str]) -> Command {
    match words {
        ["place", id, side, quantity, symbol, rest @ ..] => Command::Place(place(id, side, quantity, symbol, rest)),
        ["modify", id, "to", quantity, "@", limit] => Command::Modify(ModifyOrder {
            int_id: id.parse().unwrap(),
            cl_ord_id: None,
            quantity: Some(quantity.parse().unwrap()),
            limit: Some(price(limit)),
            stop: None,
            tif: None,
            restated: RestatedFields::default(),
            reference: None,
        }),
        ["cancel", id] => Command::Cancel(CancelOrder::new(id.parse().unwrap())),
        ["close", id] => reduce(id, None),
        ["reduce", id, quantity] => reduce(id, Some(quantity.parse().unwrap())),
        ["next-id"] => Command::NextOrderId(AccountId(1)),
        ["claim", id, "for", strategy] => {
            Command::Claim(ClaimOrder { int_id: id.parse().unwrap(), strategy: StrategyId(strategy.parse().unwrap()) })
        }
        ["kill", scope] => Command::Kill { scope: scope.parse().unwrap(), reason: None },
        ["kill"] => Command::Kill { scope: RiskScope::Platform, reason: None },
        ["dead-man", scope, rest @ ..] => {
            let seconds = rest.first().map(|seconds| seconds.parse().unwrap());
            Command::ArmDeadMan { scope: scope.parse().unwrap(), seconds }
        }
        [step @ ("explain" | "accept" | "repair"), id, comment @ ..] => Command::SettleBreak(SettleBreak {
            id: id.parse().unwrap(),
            step: BreakStep::ALL.into_iter().find(|known| known.name() == *step).unwrap(),
            comment: comment.join(" ").into(),
        }),
        ["disarm", scope] => Command::DisarmDeadMan { scope: scope.parse().unwrap() },
        ["set", scope, state] => Command::SetTradingState {
            scope: scope.parse().unwrap(),
            state: match *state {
                "ACTIVE" => domain::TradingState::Active,
                "REDUCING" => domain::TradingState::Reducing,
                _ => domain::TradingState::Halted,
            },
            reason: None,
        },
        ["record", kind, quantity, symbol, "@", at, rest @ ..] => {
            Command::Record(record(kind, quantity, symbol, at, rest))
        }
        ["settlement", symbol, at, rest @ ..] => Command::SetSettlementPrice(SettlementPrice {
            security: security(symbol),
            price: price(at),
            date: rest.first().map(|day| day.parse().unwrap()),
        }),
        ["reset-positions"] => Command::ResetPositions,
        ["reset-cash"] => Command::ResetCash,
        other => panic!("not a command: {other:?}"),
    }
}

/// `record expiration -2 CALL @ 0 [strategy 2] [dated 2026-11-19T10:00:00Z]`
fn record(kind: &str, quantity: &str, symbol: &str, at: &str, rest: &[&str]) -> RecordTransaction {
    let named = TransactionKind::ALL.into_iter().find(|known| known.name().eq_ignore_ascii_case(kind));
    let after = |word: &str| rest.iter().skip_while(|other| **other != word).nth(1);
    RecordTransaction {
        at: after("dated").map(|at| at.parse().unwrap()),
        kind: named.unwrap(),
        quantity: Some(quantity.parse().unwrap()),
        price: price(at),
        currency: None,
        security: Some(security(symbol)),
        strategy: after("strategy").map(|id| StrategyId(id.parse().unwrap())),
        ..credit(1)
    }
}

fn reduce(position: &str, quantity: Option<Quantity>) -> Command {
    Command::Reduce(ReducePosition { position: PositionId(position.parse().unwrap()), quantity })
}

fn place(id: &str, side: &str, quantity: &str, symbol: &str, rest: &[&str]) -> PlaceOrder {
    let (kind, rest) = match rest {
        ["market", rest @ ..] => (OrderKind::Market, rest),
        ["stop", stop, "@", limit, rest @ ..] => {
            (OrderKind::StopLimit { limit: price(limit), stop: price(stop) }, rest)
        }
        ["stop", stop, rest @ ..] => (OrderKind::Stop { stop: price(stop) }, rest),
        ["@", limit, rest @ ..] => (OrderKind::Limit { limit: price(limit) }, rest),
        other => panic!("not a kind of order: {other:?}"),
    };
    let named = |word: &str| rest.iter().skip_while(|other| **other != word).nth(1).map(|text| text.parse().unwrap());
    let properties = OrderProperties {
        post_only: rest.contains(&"post-only"),
        display_quantity: named("showing"),
        min_quantity: named("at-least"),
        reduce_only: rest.contains(&"reduce-only"),
    };
    let after = |word: &str| rest.iter().skip_while(|other| **other != word).nth(1).map(|id| id.parse().unwrap());
    PlaceOrder {
        int_id: (id != "?").then(|| id.parse().unwrap()),
        cl_ord_id: None,
        security: security(symbol),
        account: after("account").map(AccountId),
        strategy: after("strategy").map(StrategyId),
        exchange: after("exchange").map(ExchangeId),
        side: if side == "buy" { Side::Buy } else { Side::Sell },
        quantity: quantity.parse().unwrap(),
        kind,
        tif: rest.first().map_or(TimeInForce::Day, |word| tif(word)),
        exchange_order: false,
        reference: None,
        properties,
        pass_through: None,
    }
}

fn tif(word: &str) -> TimeInForce {
    match word {
        "GTC" => TimeInForce::Gtc,
        "IOC" => TimeInForce::Ioc,
        "FOK" => TimeInForce::Fok,
        "ATO" => TimeInForce::Ato,
        "ATC" => TimeInForce::Atc,
        "GTD-yesterday" => TimeInForce::Gtd { until: Timestamp(NOON).plus_seconds(-86_400) },
        "GTD-tomorrow" => TimeInForce::Gtd { until: Timestamp(NOON).plus_seconds(86_400) },
        _ => TimeInForce::Day,
    }
}

pub(super) fn terms(quantity: &str, limit: &str) -> OrderTerms {
    OrderTerms {
        quantity: quantity.parse().unwrap(),
        kind: OrderKind::Limit { limit: price(limit) },
        tif: TimeInForce::Day,
    }
}

pub(super) fn price(text: &str) -> Price {
    text.parse().unwrap()
}
