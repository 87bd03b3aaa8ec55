//! Schemas of orders, money, prices and history.

use super::object::{ObjectSchema, golden, optional, required, shape, variant};
use super::platform::{LINES, OPEN_FOR, SESSION_STATES};
use super::schema_type::SchemaType::*;

pub(super) const SHAPES: &[ObjectSchema] = &[
    shape(
        "OrderVO",
        "An order; `limit` and `stop` stand on the kinds that have them.",
        &[
            required("objectType", OneOf(ORDER_TYPES)),
            required("id", Id),
            required("intId", IntId),
            required("extId", Maybe(&Text)),
            required("clOrdId", Maybe(&Text)),
            required("dateTime", Millis),
            required("side", OneOf(SIDES)),
            required("quantity", Number),
            required("tif", OneOf(TIFS)),
            required("tifDateTime", Maybe(&Millis)),
            required("exchangeOrder", Flag),
            required("exchangeId", Id),
            required("securityId", Id),
            required("accountId", Id),
            required("strategyId", Id),
            required("status", OneOf(STATUSES)),
            required("filledQuantity", Number),
            required("remainingQuantity", Number),
            required("avgPrice", Maybe(&Number)),
            required("reason", Maybe(&Text)),
            required("inDoubt", Flag),
            required("reference", Maybe(&Text)),
            required("source", Text),
            required("submittedBy", Maybe(&Text)),
            optional("limit", Number),
            optional("stop", Number),
            optional("postOnly", Flag),
            optional("displayQuantity", Number),
            optional("minQuantity", Number),
            optional("reduceOnly", Flag),
        ],
    )
    .with_variants(&[
        variant("PlacedMarketOrderVO", "An order at the market, as it stands.", &["MarketOrder"], &[]),
        variant("PlacedLimitOrderVO", "An order with a limit, as it stands.", &["LimitOrder"], &["limit"]),
        variant("PlacedStopOrderVO", "An order with a stop, as it stands.", &["StopOrder"], &["stop"]),
        variant(
            "PlacedStopLimitOrderVO",
            "An order with a limit and a stop, as it stands.",
            &["StopLimitOrder"],
            &["limit", "stop"],
        ),
    ])
    .with_example(golden!("OrderVO")),
    shape(
        "OrderStatusVO",
        "What happened to an order.",
        &[
            required("intId", IntId),
            required("extId", Maybe(&Text)),
            required("orderId", Id),
            required("strategyId", Id),
            required("dateTime", Millis),
            required("extDateTime", Maybe(&Millis)),
            required("sequenceNumber", Whole),
            required("status", OneOf(STATUSES)),
            required("filledQuantity", Number),
            required("remainingQuantity", Number),
            required("lastQuantity", Maybe(&Number)),
            required("lastPrice", Maybe(&Number)),
            required("avgPrice", Maybe(&Number)),
            required("reason", Maybe(&Text)),
        ],
    )
    .with_example(golden!("OrderStatusVO")),
    shape(
        "FillVO",
        "A part of an order that was traded.",
        &[
            required("orderIntId", IntId),
            required("extId", Text),
            required("dateTime", Millis),
            required("extDateTime", Maybe(&Millis)),
            required("sequenceNumber", Whole),
            required("side", OneOf(SIDES)),
            required("quantity", Number),
            required("price", Number),
        ],
    )
    .with_example(golden!("FillVO")),
    shape(
        "PositionVO",
        "What a strategy holds of a security in an account. `realizedPL` and `unrealizedPL` are before costs; `commissions` \
        (execution and clearing) and `fees` of all its transactions stand beside them, in its currency.",
        &[
            required("id", Id),
            required("strategyId", Id),
            required("securityId", Id),
            required("accountId", Id),
            required("quantity", Number),
            required("cost", Number),
            required("avgPrice", Maybe(&Number)),
            required("realizedPL", Number),
            required("unrealizedPL", Maybe(&Number)),
            required("commissions", Number),
            required("fees", Number),
            required("marketPrice", Maybe(&Number)),
            required("marketValue", Maybe(&Number)),
            required("currency", Currency),
        ],
    )
    .with_example(golden!("PositionVO")),
    shape(
        "TransactionVO",
        "A booking. The quantity is signed, the price is the positive amount. `charges` lists what a fill cost in other \
        currencies than its own; each is booked by a FEES transaction (a rebate by a REFUND) with the same intOrderId.",
        &[
            required("id", Id),
            required("uuid", Uuid),
            required("dateTime", Millis),
            required("settlementDate", Maybe(&Date)),
            required("extId", Maybe(&Text)),
            required("intOrderId", Maybe(&IntId)),
            required("extOrderId", Maybe(&Text)),
            required("type", OneOf(TRANSACTION_TYPES)),
            required("quantity", Number),
            required("price", Number),
            required("executionCommission", Number),
            required("clearingCommission", Number),
            required("fee", Number),
            required("currency", Currency),
            required("accountId", Id),
            required("securityId", Maybe(&Id)),
            required("strategyId", Id),
            required("description", Maybe(&Text)),
            required("charges", List(&Shape("ChargeVO"))),
            required("venueKind", Maybe(&OneOf(ENTRY_KINDS))),
        ],
    )
    .with_example(golden!("TransactionVO")),
    shape(
        "ChargeVO",
        "What a fill cost in another currency than its own; below zero it is a rebate.",
        &[required("amount", Number), required("currency", Currency), required("kind", OneOf(CHARGE_KINDS))],
    ),
    shape(
        "CashBalanceVO",
        "Cash of a strategy in an account; beside it what the venue holds for the whole account, by its last statement.",
        &[
            required("id", Id),
            required("strategyId", Id),
            required("accountId", Id),
            required("currency", Currency),
            required("amount", Number),
            required("venueTotal", Maybe(&Number)),
            required("venueLocked", Maybe(&Number)),
        ],
    )
    .with_example(golden!("CashBalanceVO")),
    shape(
        "PortfolioValueVO",
        "What a strategy is worth, in base currency; a value is null where a price or a rate is not known. `netLiqValue` and \
        `cashBalance` are after costs; `realizedPL` and `unrealizedPL` are before costs, with `commissions` and `fees` beside \
        them.",
        &[
            required("strategyId", Id),
            required("dateTime", Millis),
            required("netLiqValue", Maybe(&Number)),
            required("marketValue", Maybe(&Number)),
            required("cashBalance", Maybe(&Number)),
            required("realizedPL", Maybe(&Number)),
            required("unrealizedPL", Maybe(&Number)),
            required("commissions", Maybe(&Number)),
            required("fees", Maybe(&Number)),
            required("openPositions", Whole),
            required("currency", Currency),
        ],
    )
    .with_example(golden!("PortfolioValueVO")),
    shape(
        "Tick",
        "The newest prices of a security.",
        &[
            required("objectType", OneOf(&["Tick"])),
            required("securityId", Id),
            required("feed", Text),
            required("dateTime", Millis),
            required("last", Maybe(&Number)),
            required("lastDateTime", Maybe(&Millis)),
            required("volLast", Maybe(&Number)),
            required("bid", Maybe(&Number)),
            required("ask", Maybe(&Number)),
            required("volBid", Maybe(&Number)),
            required("volAsk", Maybe(&Number)),
            required("vol", Maybe(&Number)),
        ],
    )
    .with_example(golden!("Tick")),
    shape(
        "Bar",
        "The trades of a span of time.",
        &[
            required("objectType", OneOf(&["Bar"])),
            required("securityId", Id),
            required("feed", Text),
            required("dateTime", Millis),
            required("barSize", OneOf(BAR_SIZES)),
            required("open", Number),
            required("high", Number),
            required("low", Number),
            required("close", Number),
            required("vol", Number),
            required("vwap", Maybe(&Number)),
        ],
    )
    .with_example(golden!("Bar")),
    shape(
        "Trade",
        "A trade of the market.",
        &[
            required("objectType", OneOf(&["Trade"])),
            required("securityId", Id),
            required("feed", Text),
            required("dateTime", Millis),
            required("price", Number),
            required("quantity", Number),
            required("aggressorSide", Maybe(&OneOf(SIDES))),
            required("extId", Maybe(&Text)),
        ],
    )
    .with_example(golden!("Trade")),
    shape(
        "OrderBook",
        "The levels of both sides, best first.",
        &[
            required("objectType", OneOf(&["OrderBook"])),
            required("securityId", Id),
            required("feed", Text),
            required("dateTime", Millis),
            required("bids", List(&Shape("PriceLevel"))),
            required("asks", List(&Shape("PriceLevel"))),
        ],
    )
    .with_example(golden!("OrderBook")),
    shape("PriceLevel", "Quantity at a price.", &[required("price", Number), required("quantity", Number)]),
    shape(
        "SubscriptionVO",
        "A market data subscription of a strategy, when it begins or ends.",
        &[required("strategyName", Maybe(&Text)), required("securityId", Id), required("subscribe", Flag)],
    )
    .with_example(golden!("SubscriptionVO")),
    shape(
        "LifeCycleEvent",
        "A step in the life of a strategy.",
        &[
            required("dateTime", Millis),
            required("strategyName", Maybe(&Text)),
            required("mode", OneOf(&["REAL_TIME", "SIMULATION"])),
            required("phase", OneOf(&["INIT", "PREFEED", "START", "RUN", "EXIT"])),
            optional("failure", OneOf(&["panicked", "hung", "flooded", "lost"])),
            optional("reason", Text),
        ],
    )
    .with_example(golden!("LifeCycleEvent")),
    shape(
        "SessionEvent",
        "An adapter that came or went, or one of its lines.",
        &[
            required("dateTime", Millis),
            required("adapter", Text),
            required("qualifier", Maybe(&Text)),
            required("state", OneOf(SESSION_STATES)),
            optional("openFor", OneOf(OPEN_FOR)),
            optional("lines", List(&Shape("LineState"))),
        ],
    )
    .with_example(golden!("SessionEvent")),
    shape(
        "LineState",
        "A connection of an adapter to its venue.",
        &[required("line", OneOf(LINES)), required("up", Flag), required("reason", Maybe(&Text))],
    ),
    shape(
        "TradingState",
        "Whether a scope may trade.",
        &[
            required("scope", Scope),
            required("state", OneOf(TRADING_STATES)),
            required("dateTime", Millis),
            required("reason", Maybe(&Text)),
            required("changedBy", Maybe(&Text)),
        ],
    )
    .with_example(golden!("TradingState")),
    shape(
        "BreakVO",
        "A difference between us and a venue.",
        &[
            required("id", Text),
            required("kind", OneOf(&["ORDER", "TERMS", "FILL", "FEE", "CASH", "POSITION", "EXTERNAL"])),
            required("state", OneOf(&["OPEN", "EXPLAINED", "REPAIRED", "ACCEPTED"])),
            required("adapter", Text),
            required("account", Maybe(&Text)),
            required("security", Maybe(&Text)),
            required("intOrderId", Maybe(&Text)),
            required("extOrderId", Maybe(&Text)),
            required("currency", Maybe(&Currency)),
            required("ours", Maybe(&Shape("BreakSide"))),
            required("theirs", Maybe(&Shape("BreakSide"))),
            required("difference", Maybe(&Text)),
            required("value", Maybe(&Text)),
            required("evidence", Shape("BreakEvidence")),
            required("since", Text),
            required("changedAt", Text),
            required("changedBy", Maybe(&Text)),
            required("comment", Maybe(&Text)),
            required("repair", Maybe(&Text)),
        ],
    )
    .with_example(golden!("BreakVO")),
    shape("BreakSide", "The values of one side by name, all as text.", &[]),
    shape(
        "BreakEvidence",
        "The report of the venue that showed the difference.",
        &[required("report", Text), required("sequence", Whole), required("hash", Text)],
    ),
    shape(
        "LimitsVO",
        "The limits of a scope; null does not bind.",
        &[
            required("scope", Scope),
            required("maxOrderQuantity", Maybe(&Number)),
            required("maxOrderNotional", Maybe(&Number)),
            required("priceCollarPercent", Maybe(&Number)),
            required("staleAfterSeconds", Maybe(&Whole)),
            required("maxOpenOrders", Maybe(&Whole)),
            required("maxOpenNotional", Maybe(&Number)),
            required("maxLong", Maybe(&Number)),
            required("maxShort", Maybe(&Number)),
            required("maxGrossExposure", Maybe(&Number)),
            required("cashCheck", Maybe(&Flag)),
            required("ordersPerSecond", Maybe(&Whole)),
            required("duplicateGuard", Maybe(&Shape("Burst"))),
            required("rejectBreaker", Maybe(&Shape("Burst"))),
            required("maxDayLoss", Maybe(&Number)),
            required("maxDrawdown", Maybe(&Number)),
            required("selfTrade", Maybe(&OneOf(SELF_TRADES))),
            required("messagesPerSecond", Maybe(&Whole)),
            required("executionBreaker", Maybe(&Shape("Burst"))),
            required("restrictedSecurities", Maybe(&List(&Id))),
        ],
    )
    .with_example(golden!("LimitsVO")),
    shape(
        "DeadManTimerVO",
        "A dead-man timer: unless it is renewed in time, the kill switch of its scope fires.",
        &[
            required("scope", Scope),
            required("seconds", Whole),
            required("expires", Millis),
            required("renewedBy", Maybe(&Text)),
        ],
    )
    .with_example(golden!("DeadManTimerVO")),
    shape("Burst", "So many in so many milliseconds.", &[required("count", Whole), required("millis", Whole)]),
    shape(
        "KilledVO",
        "What the kill switch did: how many orders were asked to be cancelled.",
        &[required("scope", Scope), required("cancels", Whole)],
    )
    .with_example(golden!("KilledVO")),
    shape(
        "VerdictVO",
        "What would happen to an order.",
        &[
            required("accepted", Flag),
            required("code", Maybe(&Text)),
            required("field", Maybe(&Text)),
            required("reason", Maybe(&Text)),
            required("notional", Maybe(&Number)),
            required("fee", Maybe(&Number)),
        ],
    )
    .with_example(golden!("VerdictVO")),
    shape(
        "GenericEvent",
        "A generic event between strategies.",
        &[required("strategyName", Maybe(&Text)), required("name", Text), required("body", Text)],
    ),
    shape(
        "PastEvent",
        "What happened, with the sequence of the input that caused it; `objectType` says which `event` \
        it is. That reference data changed comes without more: the data is read where it is listed.",
        &[
            required("sequence", Whole),
            required("dateTime", Millis),
            required("objectType", Text),
            required("event", Maybe(&AnyOf(EVENTS))),
        ],
    )
    .with_example(golden!("PastEvent")),
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
    "BreakVO",
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
const ENTRY_KINDS: &[&str] =
    &["FUNDING", "INTEREST", "TRANSFER", "DUST", "CONVERSION", "CORRECTION", "FEE", "DIVIDEND"];
const CHARGE_KINDS: &[&str] = &["EXECUTION_COMMISSION", "CLEARING_COMMISSION", "FEE"];
const BAR_SIZES: &[&str] = &["SEC_1", "MIN_1", "MIN_5", "MIN_15", "HOUR_1", "DAY_1"];
pub(super) const TRADING_STATES: &[&str] = &["ACTIVE", "REDUCING", "HALTED"];
pub(super) const SELF_TRADES: &[&str] = &["REFUSE_NEWEST", "CANCEL_RESTING", "CANCEL_BOTH", "ALLOW"];
