//! Tags and values of orders and reports.

use domain::order::{OrdStatus, Side, TimeInForce};
use domain::{Liquidity, OrderType, SecurityKind};
use fix::tag::Tag;

use super::terms::table::field_name;

pub(crate) const ACCOUNT: Tag = 1;
pub(crate) const AVG_PX: Tag = 6;
pub(crate) const CL_ORD_ID: Tag = 11;
pub(crate) const CUM_QTY: Tag = 14;
pub(crate) const EXEC_ID: Tag = 17;
pub(crate) const EXEC_INST: Tag = 18;
pub(crate) const EXEC_REF_ID: Tag = 19;
pub(crate) const SECURITY_ID_SOURCE: Tag = 22;
pub(crate) const LAST_PX: Tag = 31;
pub(crate) const LAST_QTY: Tag = 32;
pub(crate) const ORDER_ID: Tag = 37;
pub(crate) const ORDER_QTY: Tag = 38;
pub(crate) const ORD_STATUS: Tag = 39;
pub(crate) const ORD_TYPE: Tag = 40;
pub(crate) const ORIG_CL_ORD_ID: Tag = 41;
pub(crate) const PRICE: Tag = 44;
pub(crate) const SECURITY_ID: Tag = 48;
pub(crate) const SIDE: Tag = 54;
pub(crate) const SYMBOL: Tag = 55;
pub(crate) const TEXT: Tag = 58;
pub(crate) const TIME_IN_FORCE: Tag = 59;
pub(crate) const TRANSACT_TIME: Tag = 60;
pub(crate) const POSS_RESEND: Tag = 97;
pub(crate) const STOP_PX: Tag = 99;
pub(crate) const EX_DESTINATION: Tag = 100;
pub(crate) const CXL_REJ_REASON: Tag = 102;
pub(crate) const ORD_REJ_REASON: Tag = 103;
pub(crate) const MIN_QTY: Tag = 110;
pub(crate) const MAX_FLOOR: Tag = 111;
pub(crate) const EXPIRE_TIME: Tag = 126;
pub(crate) const TRADE_DATE: Tag = 75;
pub(crate) const EXEC_TYPE: Tag = 150;
pub(crate) const LEAVES_QTY: Tag = 151;
pub(crate) const SECURITY_TYPE: Tag = 167;
pub(crate) const SECURITY_EXCHANGE: Tag = 207;
pub(crate) const EXEC_RESTATEMENT_REASON: Tag = 378;
pub(crate) const BUSINESS_REJECT_REF_ID: Tag = 379;
pub(crate) const EXPIRE_DATE: Tag = 432;
pub(crate) const PARTY_ID_SOURCE: Tag = 447;
pub(crate) const PARTY_ID: Tag = 448;
pub(crate) const PARTY_ROLE: Tag = 452;
pub(crate) const NO_PARTY_IDS: Tag = 453;
pub(crate) const PARTY_SUB_ID: Tag = 523;
pub(crate) const CXL_REJ_RESPONSE_TO: Tag = 434;
pub(crate) const MASS_CANCEL_REQUEST_TYPE: Tag = 530;
pub(crate) const MASS_CANCEL_RESPONSE: Tag = 531;
pub(crate) const MASS_CANCEL_REJECT_REASON: Tag = 532;
pub(crate) const TOTAL_AFFECTED_ORDERS: Tag = 533;
pub(crate) const MASS_STATUS_REQ_ID: Tag = 584;
pub(crate) const MASS_STATUS_REQ_TYPE: Tag = 585;
pub(crate) const ORD_STATUS_REQ_ID: Tag = 790;
pub(crate) const SUBSCRIPTION_REQUEST_TYPE: Tag = 263;
pub(crate) const TRADE_REPORT_TRANS_TYPE: Tag = 487;
pub(crate) const NO_SIDES: Tag = 552;
pub(crate) const TRADE_REQUEST_ID: Tag = 568;
pub(crate) const TRADE_REQUEST_TYPE: Tag = 569;
pub(crate) const PREVIOUSLY_REPORTED: Tag = 570;
pub(crate) const TRADE_REPORT_ID: Tag = 571;
pub(crate) const TRADE_REPORT_REF_ID: Tag = 572;
pub(crate) const NO_DATES: Tag = 580;
pub(crate) const ACCOUNT_TYPE: Tag = 581;
pub(crate) const NO_POSITIONS: Tag = 702;
pub(crate) const POS_TYPE: Tag = 703;
pub(crate) const LONG_QTY: Tag = 704;
pub(crate) const SHORT_QTY: Tag = 705;
pub(crate) const POS_REQ_ID: Tag = 710;
pub(crate) const CLEARING_BUSINESS_DATE: Tag = 715;
pub(crate) const POS_MAINT_RPT_ID: Tag = 721;
pub(crate) const POS_REQ_TYPE: Tag = 724;
pub(crate) const TOTAL_NUM_POS_REPORTS: Tag = 727;
pub(crate) const POS_REQ_RESULT: Tag = 728;
pub(crate) const POS_REQ_STATUS: Tag = 729;
pub(crate) const SETTL_PRICE: Tag = 730;
pub(crate) const SETTL_PRICE_TYPE: Tag = 731;
pub(crate) const PRIOR_SETTL_PRICE: Tag = 734;
pub(crate) const TOT_NUM_TRADE_REPORTS: Tag = 748;
pub(crate) const TRADE_REQUEST_RESULT: Tag = 749;
pub(crate) const TRADE_REQUEST_STATUS: Tag = 750;
pub(crate) const COPY_MSG_INDICATOR: Tag = 797;
pub(crate) const NO_PARTY_SUB_IDS: Tag = 802;
pub(crate) const PARTY_SUB_ID_TYPE: Tag = 803;
pub(crate) const LAST_LIQUIDITY_IND: Tag = 851;
pub(crate) const TOT_NUM_REPORTS: Tag = 911;
pub(crate) const LAST_RPT_REQUESTED: Tag = 912;
pub(crate) const CURRENCY: Tag = 15;
pub(crate) const NO_RELATED_SYM: Tag = 146;
pub(crate) const MATURITY_MONTH_YEAR: Tag = 200;
pub(crate) const PUT_OR_CALL: Tag = 201;
pub(crate) const STRIKE_PRICE: Tag = 202;
pub(crate) const SECURITY_DESC: Tag = 107;
pub(crate) const CONTRACT_MULTIPLIER: Tag = 231;
pub(crate) const MD_REQ_ID: Tag = 262;
pub(crate) const MARKET_DEPTH: Tag = 264;
pub(crate) const MD_UPDATE_TYPE: Tag = 265;
pub(crate) const AGGREGATED_BOOK: Tag = 266;
pub(crate) const NO_MD_ENTRY_TYPES: Tag = 267;
pub(crate) const NO_MD_ENTRIES: Tag = 268;
pub(crate) const MD_ENTRY_TYPE: Tag = 269;
pub(crate) const MD_ENTRY_PX: Tag = 270;
pub(crate) const MD_ENTRY_SIZE: Tag = 271;
pub(crate) const MD_ENTRY_DATE: Tag = 272;
pub(crate) const MD_ENTRY_TIME: Tag = 273;
pub(crate) const QUOTE_CONDITION: Tag = 276;
pub(crate) const MD_ENTRY_ID: Tag = 278;
pub(crate) const MD_UPDATE_ACTION: Tag = 279;
pub(crate) const MD_REQ_REJ_REASON: Tag = 281;
pub(crate) const OPEN_CLOSE_SETTL_FLAG: Tag = 286;
pub(crate) const SECURITY_REQ_ID: Tag = 320;
pub(crate) const SECURITY_RESPONSE_ID: Tag = 322;
pub(crate) const SECURITY_STATUS_REQ_ID: Tag = 324;
pub(crate) const UNSOLICITED_INDICATOR: Tag = 325;
pub(crate) const SECURITY_TRADING_STATUS: Tag = 326;
pub(crate) const NO_TRADING_SESSIONS: Tag = 386;
pub(crate) const TOT_NO_RELATED_SYM: Tag = 393;
pub(crate) const NO_SECURITY_ALT_ID: Tag = 454;
pub(crate) const SECURITY_ALT_ID: Tag = 455;
pub(crate) const SECURITY_ALT_ID_SOURCE: Tag = 456;
pub(crate) const CFI_CODE: Tag = 461;
pub(crate) const MATURITY_DATE: Tag = 541;
pub(crate) const SCOPE: Tag = 546;
pub(crate) const MD_IMPLICIT_DELETE: Tag = 547;
pub(crate) const SECURITY_LIST_REQUEST_TYPE: Tag = 559;
pub(crate) const SECURITY_REQUEST_RESULT: Tag = 560;
pub(crate) const ROUND_LOT: Tag = 561;
pub(crate) const MIN_TRADE_VOL: Tag = 562;
pub(crate) const LAST_FRAGMENT: Tag = 893;
pub(crate) const MIN_PRICE_INCREMENT: Tag = 969;
pub(crate) const MAX_TRADE_VOL: Tag = 1140;
pub(crate) const STRATEGY_ID: Tag = 7001;
pub(crate) const STRATEGY_NAME: Tag = 7002;
pub(crate) const EXCHANGE_ORDER: Tag = 7003;
/// Of a mass status: orders that have ended too.
pub(crate) const ENDED_ORDERS: Tag = 7004;
/// Of a trade capture: LastLiquidityInd (851) too, which the standard's Trade Capture Report does not have.
pub(crate) const WITH_LIQUIDITY: Tag = 7005;
/// Of a trade capture: so many at the most, the oldest.
pub(crate) const MAX_TRADES: Tag = 7007;

/// Of a security list: MinPriceIncrement (969) and MaxTradeVol (1140) too, which the standard's Security List does not have.
pub(crate) const WITH_TRADING_RULES: Tag = 7006;

/// PartyIDSource (447): our own names.
pub(crate) const PROPRIETARY: &str = "D";
/// PartyRole (452): Order Origination Firm, the session or interface of an order.
pub(crate) const ORIGINATION_FIRM: &str = "13";
/// PartySubIDType (803): Application, the strategy of an order.
pub(crate) const APPLICATION: &str = "4";

/// Used where an id is required and there is none.
pub(crate) const NONE: &str = "NONE";

/// ExecInst: participate, don't initiate.
pub(crate) const POST_ONLY: &str = "6";
/// ExecInst: do not increase.
pub(crate) const REDUCE_ONLY: &str = "E";

/// LastLiquidityInd (851): liquidity was added or removed.
pub(crate) fn last_liquidity_ind(liquidity: Liquidity) -> &'static str {
    match liquidity {
        Liquidity::Maker => "1",
        Liquidity::Taker => "2",
    }
}

pub(crate) fn side(side: Side) -> &'static str {
    match side {
        Side::Buy => "1",
        Side::Sell => "2",
    }
}

/// OrdType (40) of a type, and its name in texts.
pub(crate) fn ord_type(order_type: OrderType) -> (&'static str, &'static str) {
    match order_type {
        OrderType::Market => ("1", "market"),
        OrderType::Limit => ("2", "limit"),
        OrderType::Stop => ("3", "stop"),
        OrderType::StopLimit => ("4", "stop limit"),
    }
}

/// OrdType (40) with its name, of all types: `1 (market), 2 (limit) or 3 (stop)`.
pub(crate) fn ord_types() -> String {
    let named = OrderType::ALL.map(ord_type).map(|(value, name)| format!("{value} ({name})"));
    let (last, others) = named.split_last().expect("there are order types");
    format!("{} or {last}", others.join(", "))
}

pub(crate) fn time_in_force(tif: TimeInForce) -> &'static str {
    match tif {
        TimeInForce::Day => "0",
        TimeInForce::Gtc => "1",
        TimeInForce::Ato => "2",
        TimeInForce::Ioc => "3",
        TimeInForce::Fok => "4",
        TimeInForce::Gtd { .. } => "6",
        TimeInForce::Atc => "7",
    }
}

pub(crate) fn ord_status(status: OrdStatus) -> &'static str {
    match status {
        OrdStatus::Open => "A",
        OrdStatus::Submitted => "0",
        OrdStatus::PartiallyExecuted => "1",
        OrdStatus::Executed => "2",
        OrdStatus::Canceled => "4",
        OrdStatus::PendingCancel => "6",
        OrdStatus::Rejected => "8",
        OrdStatus::PendingReplace => "E",
    }
}

/// Whether FIX 4.4 has such a Side (54), supported or not.
pub(crate) fn is_side(value: &str) -> bool {
    matches!(value.as_bytes(), [b'1'..=b'9' | b'A'..=b'G'])
}

/// Whether FIX 4.4 has such a TimeInForce (59), supported or not.
pub(crate) fn is_time_in_force(value: &str) -> bool {
    matches!(value.as_bytes(), [b'0'..=b'7'])
}

/// FIX 4.4 has no value for an index, a commodity or a perpetual swap.
pub(crate) fn security_type(kind: &SecurityKind) -> Option<&'static str> {
    match kind {
        SecurityKind::Stock => Some("CS"),
        SecurityKind::Forex { .. } => Some("FOR"),
        SecurityKind::Future { .. } => Some("FUT"),
        SecurityKind::Option { .. } => Some("OPT"),
        SecurityKind::Bond { .. } => Some("CORP"),
        SecurityKind::Fund => Some("MF"),
        SecurityKind::Index | SecurityKind::Commodity | SecurityKind::PerpetualSwap => None,
    }
}

/// Names of fields in texts for people.
const TAG_NAMES: [(Tag, &str); 51] = [
    (ACCOUNT, "Account"),
    (CL_ORD_ID, "ClOrdID"),
    (SECURITY_ID_SOURCE, "SecurityIDSource"),
    (ORDER_QTY, "OrderQty"),
    (ORD_TYPE, "OrdType"),
    (ORIG_CL_ORD_ID, "OrigClOrdID"),
    (PRICE, "Price"),
    (SECURITY_ID, "SecurityID"),
    (SIDE, "Side"),
    (SYMBOL, "Symbol"),
    (TIME_IN_FORCE, "TimeInForce"),
    (TRANSACT_TIME, "TransactTime"),
    (STOP_PX, "StopPx"),
    (EX_DESTINATION, "ExDestination"),
    (EXPIRE_TIME, "ExpireTime"),
    (SECURITY_EXCHANGE, "SecurityExchange"),
    (EXPIRE_DATE, "ExpireDate"),
    (MASS_CANCEL_REQUEST_TYPE, "MassCancelRequestType"),
    (MASS_STATUS_REQ_ID, "MassStatusReqID"),
    (MASS_STATUS_REQ_TYPE, "MassStatusReqType"),
    (STRATEGY_ID, "StrategyID"),
    (STRATEGY_NAME, "StrategyName"),
    (EXCHANGE_ORDER, "ExchangeOrder"),
    (ORDER_ID, "OrderID"),
    (ORD_STATUS_REQ_ID, "OrdStatusReqID"),
    (TRADE_DATE, "TradeDate"),
    (SUBSCRIPTION_REQUEST_TYPE, "SubscriptionRequestType"),
    (TRADE_REQUEST_ID, "TradeRequestID"),
    (TRADE_REQUEST_TYPE, "TradeRequestType"),
    (NO_DATES, "NoDates"),
    (ACCOUNT_TYPE, "AccountType"),
    (POS_REQ_ID, "PosReqID"),
    (CLEARING_BUSINESS_DATE, "ClearingBusinessDate"),
    (POS_REQ_TYPE, "PosReqType"),
    (ENDED_ORDERS, "EndedOrders"),
    (WITH_LIQUIDITY, "WithLiquidity"),
    (MAX_TRADES, "MaxTrades"),
    (MD_REQ_ID, "MDReqID"),
    (MARKET_DEPTH, "MarketDepth"),
    (MD_UPDATE_TYPE, "MDUpdateType"),
    (AGGREGATED_BOOK, "AggregatedBook"),
    (MD_ENTRY_TYPE, "MDEntryType"),
    (NO_RELATED_SYM, "NoRelatedSym"),
    (OPEN_CLOSE_SETTL_FLAG, "OpenCloseSettlFlag"),
    (SCOPE, "Scope"),
    (MD_IMPLICIT_DELETE, "MDImplicitDelete"),
    (NO_TRADING_SESSIONS, "NoTradingSessions"),
    (SECURITY_REQ_ID, "SecurityReqID"),
    (SECURITY_STATUS_REQ_ID, "SecurityStatusReqID"),
    (SECURITY_LIST_REQUEST_TYPE, "SecurityListRequestType"),
    (WITH_TRADING_RULES, "WithTradingRules"),
];

/// `OrdType (40)`.
pub(crate) fn tag_with_name(tag: Tag) -> String {
    let name = TAG_NAMES.iter().find(|(known, _)| *known == tag).map(|(_, name)| *name);
    let name = name.or_else(|| field_name(tag));
    name.map_or_else(|| format!("tag {tag}"), |name| format!("{name} ({tag})"))
}
