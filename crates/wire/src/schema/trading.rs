//! Schemas of orders, money, prices and history.

use super::kind::Kind::*;
use super::{Shape, form, golden, has, may_have, shape};

pub(super) const SHAPES: &[Shape] = &[
    shape(
        "OrderVO",
        "An order; `limit` and `stop` stand on the kinds that have them.",
        &[
            has("objectType", OneOf(ORDER_TYPES)),
            has("id", Id),
            has("intId", IntId),
            has("extId", Maybe(&Text)),
            has("clOrdId", Maybe(&Text)),
            has("dateTime", Millis),
            has("side", OneOf(SIDES)),
            has("quantity", Number),
            has("tif", OneOf(TIFS)),
            has("tifDateTime", Maybe(&Millis)),
            has("exchangeOrder", Flag),
            has("exchangeId", Id),
            has("securityId", Id),
            has("accountId", Id),
            has("strategyId", Id),
            has("status", OneOf(STATUSES)),
            has("filledQuantity", Number),
            has("remainingQuantity", Number),
            has("avgPrice", Maybe(&Number)),
            has("reason", Maybe(&Text)),
            has("inDoubt", Flag),
            has("reference", Maybe(&Text)),
            has("source", Text),
            has("submittedBy", Maybe(&Text)),
            may_have("limit", Number),
            may_have("stop", Number),
        ],
    )
    .varying(&[
        form("PlacedMarketOrderVO", "An order at the market, as it stands.", &["MarketOrder"], &[]),
        form("PlacedLimitOrderVO", "An order with a limit, as it stands.", &["LimitOrder"], &["limit"]),
        form("PlacedStopOrderVO", "An order with a stop, as it stands.", &["StopOrder"], &["stop"]),
        form(
            "PlacedStopLimitOrderVO",
            "An order with a limit and a stop, as it stands.",
            &["StopLimitOrder"],
            &["limit", "stop"],
        ),
    ])
    .like(golden!("OrderVO")),
    shape(
        "OrderStatusVO",
        "What happened to an order.",
        &[
            has("intId", IntId),
            has("extId", Maybe(&Text)),
            has("orderId", Id),
            has("strategyId", Id),
            has("dateTime", Millis),
            has("extDateTime", Maybe(&Millis)),
            has("sequenceNumber", Whole),
            has("status", OneOf(STATUSES)),
            has("filledQuantity", Number),
            has("remainingQuantity", Number),
            has("lastQuantity", Maybe(&Number)),
            has("lastPrice", Maybe(&Number)),
            has("avgPrice", Maybe(&Number)),
            has("reason", Maybe(&Text)),
        ],
    )
    .like(golden!("OrderStatusVO")),
    shape(
        "FillVO",
        "A part of an order that was traded.",
        &[
            has("orderIntId", IntId),
            has("extId", Text),
            has("dateTime", Millis),
            has("extDateTime", Maybe(&Millis)),
            has("sequenceNumber", Whole),
            has("side", OneOf(SIDES)),
            has("quantity", Number),
            has("price", Number),
        ],
    )
    .like(golden!("FillVO")),
    shape(
        "PositionVO",
        "What a strategy holds of a security in an account. `realizedPL` and `unrealizedPL` are before costs; `commissions` \
        (execution and clearing) and `fees` of all its transactions stand beside them, in its currency.",
        &[
            has("id", Id),
            has("strategyId", Id),
            has("securityId", Id),
            has("accountId", Id),
            has("quantity", Number),
            has("cost", Number),
            has("avgPrice", Maybe(&Number)),
            has("realizedPL", Number),
            has("unrealizedPL", Maybe(&Number)),
            has("commissions", Number),
            has("fees", Number),
            has("marketPrice", Maybe(&Number)),
            has("marketValue", Maybe(&Number)),
            has("currency", Currency),
        ],
    )
    .like(golden!("PositionVO")),
    shape(
        "TransactionVO",
        "A booking. The quantity is signed, the price is the positive amount. `charges` lists what a fill cost in other \
        currencies than its own; each is booked by a FEES transaction (a rebate by a REFUND) with the same intOrderId.",
        &[
            has("id", Id),
            has("uuid", Uuid),
            has("dateTime", Millis),
            has("settlementDate", Maybe(&Date)),
            has("extId", Maybe(&Text)),
            has("intOrderId", Maybe(&IntId)),
            has("extOrderId", Maybe(&Text)),
            has("type", OneOf(TRANSACTION_TYPES)),
            has("quantity", Number),
            has("price", Number),
            has("executionCommission", Number),
            has("clearingCommission", Number),
            has("fee", Number),
            has("currency", Currency),
            has("accountId", Id),
            has("securityId", Maybe(&Id)),
            has("strategyId", Id),
            has("description", Maybe(&Text)),
            has("charges", List(&Shape("ChargeVO"))),
        ],
    )
    .like(golden!("TransactionVO")),
    shape(
        "ChargeVO",
        "What a fill cost in another currency than its own; below zero it is a rebate.",
        &[has("amount", Number), has("currency", Currency), has("kind", OneOf(CHARGE_KINDS))],
    ),
    shape(
        "CashBalanceVO",
        "Cash of a strategy in an account.",
        &[has("id", Id), has("strategyId", Id), has("accountId", Id), has("currency", Currency), has("amount", Number)],
    )
    .like(golden!("CashBalanceVO")),
    shape(
        "PortfolioValueVO",
        "What a strategy is worth, in base currency; a value is null where a price or a rate is not known. `netLiqValue` and \
        `cashBalance` are after costs; `realizedPL` and `unrealizedPL` are before costs, with `commissions` and `fees` beside \
        them.",
        &[
            has("strategyId", Id),
            has("dateTime", Millis),
            has("netLiqValue", Maybe(&Number)),
            has("marketValue", Maybe(&Number)),
            has("cashBalance", Maybe(&Number)),
            has("realizedPL", Maybe(&Number)),
            has("unrealizedPL", Maybe(&Number)),
            has("commissions", Maybe(&Number)),
            has("fees", Maybe(&Number)),
            has("openPositions", Whole),
            has("currency", Currency),
        ],
    )
    .like(golden!("PortfolioValueVO")),
    shape(
        "Tick",
        "The newest prices of a security.",
        &[
            has("objectType", OneOf(&["Tick"])),
            has("securityId", Id),
            has("feed", Text),
            has("dateTime", Millis),
            has("last", Maybe(&Number)),
            has("lastDateTime", Maybe(&Millis)),
            has("volLast", Maybe(&Number)),
            has("bid", Maybe(&Number)),
            has("ask", Maybe(&Number)),
            has("volBid", Maybe(&Number)),
            has("volAsk", Maybe(&Number)),
            has("vol", Maybe(&Number)),
        ],
    )
    .like(golden!("Tick")),
    shape(
        "Bar",
        "The trades of a span of time.",
        &[
            has("objectType", OneOf(&["Bar"])),
            has("securityId", Id),
            has("feed", Text),
            has("dateTime", Millis),
            has("barSize", OneOf(BAR_SIZES)),
            has("open", Number),
            has("high", Number),
            has("low", Number),
            has("close", Number),
            has("vol", Number),
            has("vwap", Maybe(&Number)),
        ],
    )
    .like(golden!("Bar")),
    shape(
        "Trade",
        "A trade of the market.",
        &[
            has("objectType", OneOf(&["Trade"])),
            has("securityId", Id),
            has("feed", Text),
            has("dateTime", Millis),
            has("price", Number),
            has("quantity", Number),
            has("aggressorSide", Maybe(&OneOf(SIDES))),
            has("extId", Maybe(&Text)),
        ],
    )
    .like(golden!("Trade")),
    shape(
        "OrderBook",
        "The levels of both sides, best first.",
        &[
            has("objectType", OneOf(&["OrderBook"])),
            has("securityId", Id),
            has("feed", Text),
            has("dateTime", Millis),
            has("bids", List(&Shape("PriceLevel"))),
            has("asks", List(&Shape("PriceLevel"))),
        ],
    )
    .like(golden!("OrderBook")),
    shape("PriceLevel", "Quantity at a price.", &[has("price", Number), has("quantity", Number)]),
    shape(
        "SubscriptionVO",
        "A market data subscription of a strategy, when it begins or ends.",
        &[has("strategyName", Maybe(&Text)), has("securityId", Id), has("subscribe", Flag)],
    )
    .like(golden!("SubscriptionVO")),
    shape(
        "LifeCycleEvent",
        "A step in the life of a strategy.",
        &[
            has("dateTime", Millis),
            has("strategyName", Maybe(&Text)),
            has("mode", OneOf(&["REAL_TIME", "SIMULATION"])),
            has("phase", OneOf(&["INIT", "PREFEED", "START", "RUN", "EXIT"])),
            may_have("failure", OneOf(&["panicked", "hung", "flooded", "lost"])),
            may_have("reason", Text),
        ],
    )
    .like(golden!("LifeCycleEvent")),
    shape(
        "SessionEvent",
        "An adapter that came or went.",
        &[
            has("dateTime", Millis),
            has("adapter", Text),
            has("qualifier", Maybe(&Text)),
            has("state", OneOf(&["DISCONNECTED", "CONNECTED", "LOGGED_ON", "SUBSCRIBED"])),
        ],
    )
    .like(golden!("SessionEvent")),
    shape(
        "TradingState",
        "Whether a scope may trade.",
        &[
            has("scope", Scope),
            has("state", OneOf(TRADING_STATES)),
            has("dateTime", Millis),
            has("reason", Maybe(&Text)),
            has("changedBy", Maybe(&Text)),
        ],
    )
    .like(golden!("TradingState")),
    shape(
        "LimitsVO",
        "The limits of a scope; null does not bind.",
        &[
            has("scope", Scope),
            has("maxOrderQuantity", Maybe(&Number)),
            has("maxOrderNotional", Maybe(&Number)),
            has("priceCollarPercent", Maybe(&Number)),
            has("staleAfterSeconds", Maybe(&Whole)),
            has("maxOpenOrders", Maybe(&Whole)),
            has("maxOpenNotional", Maybe(&Number)),
            has("maxLong", Maybe(&Number)),
            has("maxShort", Maybe(&Number)),
            has("maxGrossExposure", Maybe(&Number)),
            has("cashCheck", Maybe(&Flag)),
            has("ordersPerSecond", Maybe(&Whole)),
            has("duplicateGuard", Maybe(&Shape("Burst"))),
            has("rejectBreaker", Maybe(&Shape("Burst"))),
            has("maxDayLoss", Maybe(&Number)),
            has("maxDrawdown", Maybe(&Number)),
            has("selfTrade", Maybe(&OneOf(SELF_TRADES))),
        ],
    )
    .like(golden!("LimitsVO")),
    shape("Burst", "So many in so many milliseconds.", &[has("count", Whole), has("millis", Whole)]),
    shape(
        "KilledVO",
        "What the kill switch did: how many orders were asked to be cancelled.",
        &[has("scope", Scope), has("cancels", Whole)],
    )
    .like(golden!("KilledVO")),
    shape(
        "VerdictVO",
        "What would happen to an order.",
        &[
            has("accepted", Flag),
            has("code", Maybe(&Text)),
            has("field", Maybe(&Text)),
            has("reason", Maybe(&Text)),
            has("notional", Maybe(&Number)),
            has("fee", Maybe(&Number)),
        ],
    )
    .like(golden!("VerdictVO")),
    shape(
        "GenericEvent",
        "A generic event between strategies.",
        &[has("strategyName", Maybe(&Text)), has("name", Text), has("body", Text)],
    ),
    shape(
        "PastEvent",
        "What happened, with the sequence of the input that caused it; `objectType` says which `event` \
        it is. That reference data changed comes without more: the data is read where it is listed.",
        &[
            has("sequence", Whole),
            has("dateTime", Millis),
            has("objectType", Text),
            has("event", Maybe(&AnyOf(EVENTS))),
        ],
    )
    .like(golden!("PastEvent")),
];

const EVENTS: &[&str] = &[
    "Tick",
    "Trade",
    "OrderBook",
    "Bar",
    "OrderVO",
    "OrderStatusVO",
    "FillVO",
    "TransactionVO",
    "PositionVO",
    "CashBalanceVO",
    "PortfolioValueVO",
    "SubscriptionVO",
    "LifeCycleEvent",
    "SessionEvent",
    "TradingState",
    "LimitsVO",
    "LogEvent",
    "GenericEvent",
];

pub(super) const ORDER_TYPES: &[&str] = &["MarketOrder", "LimitOrder", "StopOrder", "StopLimitOrder"];
pub(super) const SIDES: &[&str] = &["BUY", "SELL"];
pub(super) const TIFS: &[&str] = &["DAY", "GTC", "ATO", "IOC", "FOK", "GTD", "ATC"];
const STATUSES: &[&str] = &[
    "OPEN",
    "SUBMITTED",
    "PARTIALLY_EXECUTED",
    "EXECUTED",
    "CANCELED",
    "PENDING_CANCEL",
    "REJECTED",
    "PENDING_REPLACE",
];
pub(super) const TRANSACTION_TYPES: &[&str] = &[
    "BUY",
    "SELL",
    "EXPIRATION",
    "TRANSFER",
    "CREDIT",
    "DEBIT",
    "INTEREST_PAID",
    "INTEREST_RECEIVED",
    "DIVIDEND",
    "FEES",
    "REFUND",
];
const CHARGE_KINDS: &[&str] = &["EXECUTION_COMMISSION", "CLEARING_COMMISSION", "FEE"];
const BAR_SIZES: &[&str] = &["SEC_1", "MIN_1", "MIN_5", "MIN_15", "HOUR_1", "DAY_1"];
pub(super) const TRADING_STATES: &[&str] = &["ACTIVE", "REDUCING", "HALTED"];
pub(super) const SELF_TRADES: &[&str] = &["REFUSE_NEWEST", "CANCEL_RESTING", "CANCEL_BOTH", "ALLOW"];
