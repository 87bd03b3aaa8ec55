//! The names that values may have.

pub(crate) const EVENTS: &[&str] = &[
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
pub(crate) const ORDER_TYPES: &[&str] = &domain::OrderType::NAMES;
pub(crate) const SIDES: &[&str] = &["BUY", "SELL"];
pub(crate) const TIFS: &[&str] = &["DAY", "GTC", "ATO", "IOC", "FOK", "GTD", "ATC"];
pub(crate) const STATUSES: &[&str] = &[
    "OPEN",
    "SUBMITTED",
    "PARTIALLY_EXECUTED",
    "EXECUTED",
    "CANCELED",
    "PENDING_CANCEL",
    "REJECTED",
    "PENDING_REPLACE",
];
pub(crate) const TRANSACTION_TYPES: &[&str] = &[
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
pub(crate) const ENTRY_KINDS: &[&str] =
    &["FUNDING", "INTEREST", "TRANSFER", "DUST", "CONVERSION", "CORRECTION", "FEE", "DIVIDEND"];
pub(crate) const CHARGE_KINDS: &[&str] = &["EXECUTION_COMMISSION", "CLEARING_COMMISSION", "FEE"];
pub(crate) const LIQUIDITIES: &[&str] = &["MAKER", "TAKER"];
pub(crate) const STALE_CAUSES: &[&str] =
    &["DISCONNECTED", "MISSED_UPDATES", "REFUSED", "SILENT", "UNSUBSCRIBED", "AWAITED"];
pub(crate) const BAR_SIZES: &[&str] = &["SEC_1", "MIN_1", "MIN_5", "MIN_15", "HOUR_1", "DAY_1"];
pub(crate) const TRADING_STATES: &[&str] = &["ACTIVE", "REDUCING", "HALTED"];
pub(crate) const SELF_TRADES: &[&str] = &["REFUSE_NEWEST", "CANCEL_RESTING", "CANCEL_BOTH", "ALLOW"];
pub(crate) const SECURITY_TYPES: &[&str] =
    &["Stock", "Forex", "Future", "Option", "Index", "Bond", "Commodity", "Fund", "PerpetualSwap"];
pub(crate) const SESSION_STATES: &[&str] = &["DISCONNECTED", "CONNECTED", "LOGGED_ON", "SUBSCRIBED"];
pub(crate) const ORDER_MODES: &[&str] = &["LIVE", "PAPER", "SIMULATED"];
pub(crate) const VENUE_PROOFS: &[&str] = &["OWN_VENUE", "UNPROVEN", "PROGRAM", "LAB", "VENUE"];
pub(crate) const LEG_STATES: &[&str] = &["LIVE", "UNKNOWN", "ENDED"];
pub(crate) const CANCEL_KINDS: &[&str] = &["WHILE_OPEN", "NONE"];
pub(crate) const REPLACE_KINDS: &[&str] = &["IN_PLACE", "LOWER_QUANTITY_ONLY", "CANCEL_REPLACE", "NONE"];
pub(crate) const OPEN_FOR: &[&str] = &["NOTHING", "REDUCE", "ORDERS"];
pub(crate) const LINES: &[&str] = &["TRADING", "PRIVATE", "PRICES"];
pub(crate) const ORDER_PROPERTIES: &[&str] = &["postOnly", "displayQuantity", "minQuantity", "reduceOnly"];
pub(crate) const PHASES: &[&str] = &["INIT", "PREFEED", "START", "RUN", "EXIT"];
pub(crate) const ROLES: &[&str] = &["VIEWER", "TRADER", "STRATEGY", "ADMIN"];
pub(crate) const INTERFACES: &[&str] = &["REST", "FIX", "STOMP"];
pub(crate) const LOG_LEVELS: &[&str] = &["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];
pub(crate) const OPTION_TYPES: &[&str] = &["CALL", "PUT"];
