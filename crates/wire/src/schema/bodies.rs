//! Schemas of request bodies; null means that a key is absent. Unknown keys are ignored in the bodies that the
//! interface specification defines, and rejected in the others.

use super::house::ROLES;
use super::kind::Kind::{self, *};
use super::kind::Sent as Given;
use super::trading::{ORDER_TYPES, SELF_TRADES, SIDES, TIFS, TRADING_STATES, TRANSACTION_TYPES};
use super::{Field, Shape, golden, has, may_have, shape};

const ID: Kind = Sent(Given::Id);
const FIX_NUMBER: Kind = Sent(Given::FixNumber);
const NUMBER: Kind = Sent(Given::Number);
const UNTIL: Kind = Sent(Given::Until);
const NOTE: Kind = Sent(Given::Text(256));
const LONG: Kind = Sent(Given::Text(4096));
const COUNT: Kind = Sent(Given::Count);
const POSITIVE: Kind = Sent(Given::Positive);
const AT_LEAST_ONE: Kind = Sent(Given::AtLeastOne);

/// The fields of every new order, and further ones.
macro_rules! order {
    ($($field:expr),*) => {
        &[
            may_have("intId", Maybe(&IntId)),
            has("securityId", ID),
            may_have("accountId", Maybe(&ID)),
            may_have("strategyId", Maybe(&ID)),
            may_have("strategyName", Maybe(&NOTE)),
            may_have("exchangeId", Maybe(&ID)),
            has("side", OneOf(SIDES)),
            has("quantity", NUMBER),
            may_have("tif", Maybe(&OneOf(TIFS))),
            may_have("tifDateTime", Maybe(&UNTIL)),
            may_have("exchangeOrder", Maybe(&Flag)),
            may_have("reference", Maybe(&NOTE)),
            $($field),*
        ]
    };
}

/// The fields of every change of an order, and how it states the type.
macro_rules! change {
    ($kind:expr) => {
        &[
            has("intId", IntId),
            $kind,
            may_have("quantity", Maybe(&NUMBER)),
            may_have("limit", Maybe(&NUMBER)),
            may_have("stop", Maybe(&NUMBER)),
            may_have("tif", Maybe(&OneOf(TIFS))),
            may_have("tifDateTime", Maybe(&UNTIL)),
            may_have("side", Maybe(&OneOf(SIDES))),
            may_have("securityId", Maybe(&ID)),
            may_have("accountId", Maybe(&ID)),
            may_have("strategyId", Maybe(&ID)),
            may_have("strategyName", Maybe(&NOTE)),
            may_have("exchangeId", Maybe(&ID)),
            may_have("reference", Maybe(&NOTE)),
        ]
    };
}

pub(super) const SHAPES: &[Shape] = &[
    shape("MarketOrderVO", "A new order at the market.", order![may_have("objectType", OneOf(&["MarketOrder"]))])
        .like(golden!("MarketOrderVO")),
    shape(
        "LimitOrderVO",
        "A new order with a limit.",
        order![may_have("objectType", OneOf(&["LimitOrder"])), has("limit", NUMBER)],
    )
    .like(r#"{"intId": "my-first", "securityId": 1, "side": "BUY", "quantity": 10, "limit": 250}"#),
    shape(
        "StopOrderVO",
        "A new order that becomes one at the market when its stop is reached.",
        order![may_have("objectType", OneOf(&["StopOrder"])), has("stop", NUMBER)],
    )
    .like(r#"{"securityId": 1, "side": "SELL", "quantity": 100, "stop": 270}"#),
    shape(
        "StopLimitOrderVO",
        "A new order that becomes one with a limit when its stop is reached.",
        order![may_have("objectType", OneOf(&["StopLimitOrder"])), has("limit", NUMBER), has("stop", NUMBER)],
    )
    .like(r#"{"securityId": 1, "side": "SELL", "quantity": 100, "limit": 269.5, "stop": 270, "tif": "GTC"}"#),
    shape(
        "OrderCheckBody",
        "A dry run of an order: nothing is sent; `objectType` is its type.",
        order![
            has("objectType", OneOf(ORDER_TYPES)),
            may_have("limit", Maybe(&NUMBER)),
            may_have("stop", Maybe(&NUMBER))
        ],
    )
    .like(r#"{"objectType": "LimitOrder", "securityId": 1, "side": "BUY", "quantity": 100, "limit": 250}"#),
    shape(
        "OrderChangeCheckBody",
        "A dry run of new terms: nothing is sent; `objectType` is the type of the order.",
        change!(has("objectType", OneOf(ORDER_TYPES))),
    )
    .like(r#"{"objectType": "LimitOrder", "intId": "my-first", "quantity": 20}"#),
    shape(
        "OrderChangeBody",
        "New terms for a live order; what is left out keeps its value.",
        change!(may_have("objectType", Maybe(&OneOf(ORDER_TYPES)))),
    )
    .like(r#"{"intId": "my-first", "quantity": 20}"#),
    shape(
        "TransactionBody",
        "A booking as a client records it; what each type needs is checked by the engine.",
        &[
            has("type", OneOf(TRANSACTION_TYPES)),
            has("price", NUMBER),
            may_have("quantity", Maybe(&NUMBER)),
            may_have("uuid", Maybe(&Uuid)),
            may_have("dateTime", Maybe(&Sent(Given::Millis))),
            may_have("settlementDate", Maybe(&Date)),
            may_have("extId", Maybe(&NOTE)),
            may_have("intOrderId", Maybe(&IntId)),
            may_have("extOrderId", Maybe(&NOTE)),
            may_have("executionCommission", Maybe(&NUMBER)),
            may_have("clearingCommission", Maybe(&NUMBER)),
            may_have("fee", Maybe(&NUMBER)),
            may_have("currency", Maybe(&Currency)),
            may_have("accountId", Maybe(&ID)),
            may_have("securityId", Maybe(&ID)),
            may_have("strategyId", Maybe(&ID)),
            may_have("strategyName", Maybe(&NOTE)),
            may_have("description", Maybe(&NOTE)),
        ],
    )
    .like(r#"{"type": "CREDIT", "price": 1000, "currency": "USD", "accountId": 1, "description": "first deposit"}"#),
    shape(
        "SubscribeBody",
        "Whose wish it is, and for which security.",
        &[has("strategyName", NOTE), has("securityId", ID), may_have("subscribe", Maybe(&True))],
    )
    .like(r#"{"strategyName": "SERVER", "securityId": 1, "subscribe": true}"#),
    shape(
        "SettlementBody",
        "The price at which a security is settled on a day, by default its exchange's present one: futures that expire then \
        are settled at it, and options by the one of their underlying.",
        &[has("securityId", ID), has("price", NUMBER), may_have("date", Maybe(&Date))],
    )
    .exactly()
    .like(r#"{"securityId": 24, "price": 6789.25, "date": "2027-03-19"}"#),
    shape(
        "SubscriptionBody",
        "Whose wish it is no longer, and for which security; the flag is not looked at.",
        &[has("strategyName", NOTE), has("securityId", ID), may_have("subscribe", Maybe(&Flag))],
    )
    .like(r#"{"strategyName": "SERVER", "securityId": 1, "subscribe": false}"#),
    shape(
        "StateBody",
        "A trading state for a scope.",
        &[has("scope", Scope), has("state", OneOf(TRADING_STATES)), may_have("reason", Maybe(&NOTE))],
    )
    .exactly()
    .like(r#"{"scope": "ACCOUNT-1", "state": "REDUCING", "reason": "before the holidays"}"#),
    shape("KillBody", "What is to stop.", &[has("scope", Scope), may_have("reason", Maybe(&NOTE))])
        .exactly()
        .like(r#"{"scope": "STRATEGY-2", "reason": "it went mad"}"#),
    shape("LimitsBody", "Limits of a scope that are to change; null removes one, what is left out stays.", LIMITS)
        .exactly()
        .like(golden!("LimitsVO")),
    shape("NewBurst", "So many in so many milliseconds.", &[has("count", AT_LEAST_ONE), has("millis", AT_LEAST_ONE)])
        .exactly(),
    shape("ImportBody", "A folder with CSV files on the server's own machine.", &[has("path", Sent(Given::Path))])
        .exactly()
        .like(r#"{"path": "/srv/reference"}"#),
    shape(
        "FixNumbersBody",
        "The numbers that come next; at least one of them.",
        &[may_have("nextIn", Maybe(&FIX_NUMBER)), may_have("nextOut", Maybe(&FIX_NUMBER))],
    )
    .exactly()
    .with_at_least(1)
    .like(r#"{"nextIn": 1, "nextOut": 1}"#),
    shape("LoginBody", "A user and the password.", &[has("user", LONG), has("password", LONG)])
        .exactly()
        .like(r#"{"user": "anna", "password": "correct horse"}"#),
    shape(
        "UserBody",
        "A new user, or with `replace` a new password and role for an existing one. The role strategy \
        needs the name of its strategy, the others take none.",
        &[
            has("name", Sent(Given::Name)),
            has("password", Sent(Given::Password)),
            has("role", OneOf(ROLES)),
            may_have("strategy", Maybe(&LONG)),
            may_have("replace", Maybe(&Flag)),
        ],
    )
    .exactly()
    .like(r#"{"name": "anna", "password": "correct horse", "role": "TRADER"}"#),
    shape(
        "TokenBody",
        "A new key for a program. The role strategy needs the name of its strategy, the others take \
        none.",
        &[
            has("name", Sent(Given::Name)),
            has("role", OneOf(ROLES)),
            may_have("strategy", Maybe(&LONG)),
            may_have("days", Maybe(&Sent(Given::Days))),
        ],
    )
    .exactly()
    .like(r#"{"name": "robot", "role": "TRADER", "days": 30}"#),
];

const LIMITS: &[Field] = &[
    has("scope", Scope),
    may_have("maxOrderQuantity", Maybe(&POSITIVE)),
    may_have("maxOrderNotional", Maybe(&POSITIVE)),
    may_have("priceCollarPercent", Maybe(&POSITIVE)),
    may_have("staleAfterSeconds", Maybe(&COUNT)),
    may_have("maxOpenOrders", Maybe(&COUNT)),
    may_have("maxOpenNotional", Maybe(&POSITIVE)),
    may_have("maxLong", Maybe(&POSITIVE)),
    may_have("maxShort", Maybe(&POSITIVE)),
    may_have("maxGrossExposure", Maybe(&POSITIVE)),
    may_have("cashCheck", Maybe(&Flag)),
    may_have("ordersPerSecond", Maybe(&COUNT)),
    may_have("duplicateGuard", Maybe(&Shape("NewBurst"))),
    may_have("rejectBreaker", Maybe(&Shape("NewBurst"))),
    may_have("maxDayLoss", Maybe(&POSITIVE)),
    may_have("maxDrawdown", Maybe(&POSITIVE)),
    may_have("selfTrade", Maybe(&OneOf(SELF_TRADES))),
];
