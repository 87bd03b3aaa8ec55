//! Schemas of request bodies; null means that a key is absent. Unknown keys are ignored in the bodies that the
//! interface specification defines, and rejected in the others.

use crate::object_schema::RequestType as Given;
use crate::object_schema::SchemaType::{self, *};
use crate::object_schema::names::{INTERFACES, ORDER_TYPES, ROLES, SIDES, TIFS, TRADING_STATES, TRANSACTION_TYPES};
use crate::object_schema::{ObjectSchema, golden, optional, required, shape};
use crate::trading::limits;

const ID: SchemaType = Sent(Given::Id);
const FIX_NUMBER: SchemaType = Sent(Given::FixNumber);
const NUMBER: SchemaType = Sent(Given::Number);
const UNTIL: SchemaType = Sent(Given::Until);
const NOTE: SchemaType = Sent(Given::Text(256));
const LONG: SchemaType = Sent(Given::Text(4096));
const AT_LEAST_ONE: SchemaType = Sent(Given::AtLeastOne);

/// The fields of every new order, and further ones.
macro_rules! order {
    ($($field:expr),*) => {
        &[
            optional("intId", Maybe(&IntId)),
            required("securityId", ID),
            optional("accountId", Maybe(&ID)),
            optional("strategyId", Maybe(&ID)),
            optional("strategyName", Maybe(&NOTE)),
            optional("exchangeId", Maybe(&ID)),
            required("side", OneOf(SIDES)),
            required("quantity", NUMBER),
            optional("tif", Maybe(&OneOf(TIFS))),
            optional("tifDateTime", Maybe(&UNTIL)),
            optional("exchangeOrder", Maybe(&Flag)),
            optional("reference", Maybe(&NOTE)),
            optional("postOnly", Maybe(&Flag)),
            optional("displayQuantity", Maybe(&NUMBER)),
            optional("minQuantity", Maybe(&NUMBER)),
            optional("reduceOnly", Maybe(&Flag)),
            $($field),*
        ]
    };
}

/// The fields of every change of an order, and how it states the type.
macro_rules! change {
    ($kind:expr) => {
        &[
            required("intId", IntId),
            $kind,
            optional("quantity", Maybe(&NUMBER)),
            optional("limit", Maybe(&NUMBER)),
            optional("stop", Maybe(&NUMBER)),
            optional("tif", Maybe(&OneOf(TIFS))),
            optional("tifDateTime", Maybe(&UNTIL)),
            optional("side", Maybe(&OneOf(SIDES))),
            optional("securityId", Maybe(&ID)),
            optional("accountId", Maybe(&ID)),
            optional("strategyId", Maybe(&ID)),
            optional("strategyName", Maybe(&NOTE)),
            optional("exchangeId", Maybe(&ID)),
            optional("reference", Maybe(&NOTE)),
            optional("postOnly", Maybe(&Flag)),
            optional("displayQuantity", Maybe(&NUMBER)),
            optional("minQuantity", Maybe(&NUMBER)),
            optional("reduceOnly", Maybe(&Flag)),
        ]
    };
}

pub(super) const SHAPES: &[ObjectSchema] = &[
    shape("MarketOrderVO", "A new order at the market.", order![optional("objectType", OneOf(&["MarketOrder"]))])
        .with_example(golden!("MarketOrderVO")),
    shape(
        "LimitOrderVO",
        "A new order with a limit.",
        order![optional("objectType", OneOf(&["LimitOrder"])), required("limit", NUMBER)],
    )
    .with_example(r#"{"intId": "my-first", "securityId": 1, "side": "BUY", "quantity": 10, "limit": 250}"#),
    shape(
        "StopOrderVO",
        "A new order that becomes one at the market when its stop is reached.",
        order![optional("objectType", OneOf(&["StopOrder"])), required("stop", NUMBER)],
    )
    .with_example(r#"{"securityId": 1, "side": "SELL", "quantity": 100, "stop": 270}"#),
    shape(
        "StopLimitOrderVO",
        "A new order that becomes one with a limit when its stop is reached.",
        order![optional("objectType", OneOf(&["StopLimitOrder"])), required("limit", NUMBER), required("stop", NUMBER)],
    )
    .with_example(r#"{"securityId": 1, "side": "SELL", "quantity": 100, "limit": 269.5, "stop": 270, "tif": "GTC"}"#),
    shape(
        "OrderCheckBody",
        "A dry run of an order: nothing is sent; `objectType` is its type.",
        order![
            required("objectType", OneOf(ORDER_TYPES)),
            optional("limit", Maybe(&NUMBER)),
            optional("stop", Maybe(&NUMBER))
        ],
    )
    .with_example(r#"{"objectType": "LimitOrder", "securityId": 1, "side": "BUY", "quantity": 100, "limit": 250}"#),
    shape(
        "OrderChangeCheckBody",
        "A dry run of new terms: nothing is sent; `objectType` is the type of the order.",
        change!(required("objectType", OneOf(ORDER_TYPES))),
    )
    .with_example(r#"{"objectType": "LimitOrder", "intId": "my-first", "quantity": 20}"#),
    shape(
        "OrderChangeBody",
        "New terms for a live order; what is left out keeps its value.",
        change!(optional("objectType", Maybe(&OneOf(ORDER_TYPES)))),
    )
    .with_example(r#"{"intId": "my-first", "quantity": 20}"#),
    shape(
        "TransactionBody",
        "A booking as a client records it; what each type needs is checked by the engine.",
        &[
            required("type", OneOf(TRANSACTION_TYPES)),
            required("price", NUMBER),
            optional("quantity", Maybe(&NUMBER)),
            optional("uuid", Maybe(&Uuid)),
            optional("dateTime", Maybe(&Sent(Given::Millis))),
            optional("settlementDate", Maybe(&Date)),
            optional("extId", Maybe(&NOTE)),
            optional("intOrderId", Maybe(&IntId)),
            optional("extOrderId", Maybe(&NOTE)),
            optional("executionCommission", Maybe(&NUMBER)),
            optional("clearingCommission", Maybe(&NUMBER)),
            optional("fee", Maybe(&NUMBER)),
            optional("currency", Maybe(&Currency)),
            optional("accountId", Maybe(&ID)),
            optional("securityId", Maybe(&ID)),
            optional("strategyId", Maybe(&ID)),
            optional("strategyName", Maybe(&NOTE)),
            optional("description", Maybe(&NOTE)),
        ],
    )
    .with_example(r#"{"type": "CREDIT", "price": 1000, "currency": "USD", "accountId": 1, "description": "first deposit"}"#),
    shape(
        "SubscribeBody",
        "Whose wish it is, and for which security.",
        &[required("strategyName", NOTE), required("securityId", ID), optional("subscribe", Maybe(&True))],
    )
    .with_example(r#"{"strategyName": "SERVER", "securityId": 1, "subscribe": true}"#),
    shape(
        "SettlementBody",
        "The price at which a security is settled on a day, by default its exchange's present one: futures that expire then \
        are settled at it, and options by the one of their underlying.",
        &[required("securityId", ID), required("price", NUMBER), optional("date", Maybe(&Date))],
    )
    .strict()
    .with_example(r#"{"securityId": 24, "price": 6789.25, "date": "2027-03-19"}"#),
    shape(
        "ClaimBody",
        "The strategy that an order belongs to which nobody placed here, by its name.",
        &[required("strategy", NOTE)],
    )
    .strict()
    .with_example(r#"{"strategy": "SERVER"}"#),
    shape(
        "SubscriptionBody",
        "Whose wish it is no longer, and for which security; the flag is not looked at.",
        &[required("strategyName", NOTE), required("securityId", ID), optional("subscribe", Maybe(&Flag))],
    )
    .with_example(r#"{"strategyName": "SERVER", "securityId": 1, "subscribe": false}"#),
    shape(
        "StateBody",
        "A trading state for a scope.",
        &[required("scope", Scope), required("state", OneOf(TRADING_STATES)), optional("reason", Maybe(&NOTE))],
    )
    .strict()
    .with_example(r#"{"scope": "ACCOUNT-1", "state": "REDUCING", "reason": "before the holidays"}"#),
    shape("KillBody", "What is to stop.", &[required("scope", Scope), optional("reason", Maybe(&NOTE))])
        .strict()
        .with_example(r#"{"scope": "STRATEGY-2", "reason": "it went mad"}"#),
    shape(
        "DeadManBody",
        "Arms or renews a dead-man timer. Without `seconds` the time stays as it is, or is the configured one.",
        &[required("scope", Scope), optional("seconds", Maybe(&AT_LEAST_ONE))],
    )
    .strict()
    .with_example(r#"{"scope": "ACCOUNT-1", "seconds": 30}"#),
    shape("BreakBody", "What somebody says about a break.", &[required("comment", Text)])
        .strict()
        .with_example(r#"{"comment": "the venue confirmed it by phone"}"#),
    shape("LimitsBody", "Limits of a scope that are to change; null removes one, what is left out stays.", limits::BODY)
        .strict()
        .with_example(golden!("LimitsVO")),
    shape("NewBurst", "So many in so many milliseconds.", &[required("count", AT_LEAST_ONE), required("millis", AT_LEAST_ONE)])
        .strict(),
    shape("ImportBody", "A folder with CSV files on the server's own machine.", &[required("path", Sent(Given::Path))])
        .strict()
        .with_example(r#"{"path": "/srv/reference"}"#),
    shape(
        "FixNumbersBody",
        "The numbers that come next; at least one of them.",
        &[optional("nextIn", Maybe(&FIX_NUMBER)), optional("nextOut", Maybe(&FIX_NUMBER))],
    )
    .strict()
    .with_at_least(1)
    .with_example(r#"{"nextIn": 1, "nextOut": 1}"#),
    shape("LoginBody", "A user and the password.", &[required("user", LONG), required("password", LONG)])
        .strict()
        .with_example(r#"{"user": "anna", "password": "correct horse"}"#),
    shape(
        "RightsBody",
        "What a user or a token may trade. What is left out, or null, allows everything; an empty list nothing.",
        &[
            optional("accounts", Maybe(&List(&ID))),
            optional("securities", Maybe(&List(&ID))),
            optional("interfaces", Maybe(&List(&OneOf(INTERFACES)))),
        ],
    )
    .strict()
    .with_example(r#"{"accounts": [1], "interfaces": ["REST", "FIX"]}"#),
    shape(
        "UserBody",
        "A new user, or with `replace` a new password and role for an existing one. The role strategy \
        needs the name of its strategy, the others take none.",
        &[
            required("name", Sent(Given::Name)),
            required("password", Sent(Given::Password)),
            required("role", OneOf(ROLES)),
            optional("strategy", Maybe(&LONG)),
            optional("replace", Maybe(&Flag)),
            optional("accounts", Maybe(&List(&ID))),
            optional("securities", Maybe(&List(&ID))),
            optional("interfaces", Maybe(&List(&OneOf(INTERFACES)))),
        ],
    )
    .strict()
    .with_example(r#"{"name": "anna", "password": "correct horse", "role": "TRADER"}"#),
    shape(
        "TokenBody",
        "A new key for a program. The role strategy needs the name of its strategy, the others take \
        none.",
        &[
            required("name", Sent(Given::Name)),
            required("role", OneOf(ROLES)),
            optional("strategy", Maybe(&LONG)),
            optional("days", Maybe(&Sent(Given::Days))),
            optional("accounts", Maybe(&List(&ID))),
            optional("securities", Maybe(&List(&ID))),
            optional("interfaces", Maybe(&List(&OneOf(INTERFACES)))),
        ],
    )
    .strict()
    .with_example(r#"{"name": "robot", "role": "TRADER", "days": 30}"#),
];
