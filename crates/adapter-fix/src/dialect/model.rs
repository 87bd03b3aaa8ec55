//! What a dialect says.

use domain::order::TifKind;
use domain::report::{ListingStatus, OfferedOrderType, RefusesRepeatedIds};
use domain::{OrderProperty, OrderType, Side};
use fix::Schedule;
use fix::tag::Tag;

use super::added_fields::{ExtraField, TextField};
use super::codes::{ExecKind, OrdState};
use super::logon_rules::{LogonRules, SessionField};

/// How one venue speaks FIX.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dialect {
    pub name: String,
    pub description: String,
    pub version: FixVersion,
    pub proof: DialectProof,
    pub session: SessionRules,
    pub logon: LogonRules,
    pub ids: IdRules,
    pub orders: OrderRules,
    /// Fields that every message of some types has.
    pub fields: Vec<ExtraField>,
    /// Repeating groups that every message of some types has.
    pub groups: Vec<ExtraField>,
    /// Fields of the standard that the venue does not take.
    pub omitted: Vec<OmittedFields>,
    pub executions: ExecutionRules,
    pub recovery: RecoveryRules,
    pub throttle: Option<Throttle>,
    /// Absent where the venue sends no prices over FIX.
    pub market_data: Option<MarketDataRules>,
    /// Absent where the venue has no security list.
    pub security_list: Option<SecurityListRules>,
    /// Absent where the venue is not asked for the trading status of securities.
    pub security_status: Option<SecurityStatusRules>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FixVersion {
    Fix42,
    Fix44,
    /// Over FIXT 1.1.
    Fix50Sp2,
}

impl FixVersion {
    pub const ALL: [Self; 3] = [Self::Fix42, Self::Fix44, Self::Fix50Sp2];

    /// As a dialect file has it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fix42 => "FIX.4.2",
            Self::Fix44 => "FIX.4.4",
            Self::Fix50Sp2 => "FIXT.1.1/5.0SP2",
        }
    }

    /// BeginString (8).
    pub fn begin_string(self) -> &'static str {
        match self {
            Self::Fix42 => "FIX.4.2",
            Self::Fix44 => "FIX.4.4",
            Self::Fix50Sp2 => "FIXT.1.1",
        }
    }

    /// DefaultApplVerID (1137): the version of the messages, where the BeginString (8) is that of the session alone.
    pub fn appl_ver_id(self) -> Option<&'static str> {
        match self {
            Self::Fix42 | Self::Fix44 => None,
            Self::Fix50Sp2 => Some("9"),
        }
    }
}

/// What a dialect was tried against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DialectProof {
    /// A program of others.
    Program,
    /// The venue lab.
    Lab,
    /// Nothing: it follows the venue's documentation.
    Unproven,
}

impl DialectProof {
    pub fn name(self) -> &'static str {
        match self {
            Self::Program => "program",
            Self::Lab => "lab",
            Self::Unproven => "unproven",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRules {
    pub heartbeat_seconds: u32,
    /// Numbers begin at 1 at each log-on.
    pub reset_on_logon: bool,
    /// Digits of a second in timestamps.
    pub time_digits: u8,
    /// So many SenderCompIDs by turns, with a number at their end: for a venue that blocks one for a while after a lost connection.
    pub sender_comp_ids: usize,
    /// When the venue is there; numbers begin at 1 with each period.
    pub schedule: Schedule,
    /// Fields of the header of every message.
    pub header: Vec<SessionField>,
}

/// Rules for ClOrdID (11).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdRules {
    pub length_max: usize,
    /// Stands between the numbers of an id.
    pub separator: char,
    pub refuses_repeated: RefusesRepeatedIds,
    pub format: IdFormat,
    pub naming: OrderNaming,
}

/// How an id is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdFormat {
    /// Installation, order and request with a separator.
    Text,
    /// The same numbers as a UUID.
    Uuid,
}

/// By which ids requests and reports name an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderNaming {
    /// Each request has a ClOrdID (11) of its own, and OrigClOrdID (41) is the one before, as the standard says.
    Chain,
    /// F and G repeat the ClOrdID (11) of the order and have the venue's id in OrigClOrdID (41); reports have the venue's id in 11 and ours in
    /// 41.
    Venue,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OrderRules {
    pub cancel: bool,
    pub replace: bool,
    /// Whether requests have Account (1).
    pub account: bool,
    /// The venue itself ends DAY and GTD orders.
    pub expires: bool,
    /// Whether market orders have TimeInForce (59).
    pub market_tif: bool,
    pub sides: SideCodes,
    pub types: TypeCodes,
    pub times_in_force: TifCodes,
    pub properties: PropertyFields,
    /// Tags of a client's FIX order that D and G repeat as they came.
    pub pass_through: Vec<Tag>,
}

impl OrderRules {
    /// What can be sent: a type with its times in force, with any where it is sent without.
    pub fn offered_types(&self) -> Vec<OfferedOrderType> {
        let has_type = |order_type: &OrderType| self.types.code(*order_type).is_some();
        let times_in_force = |order_type: OrderType| {
            let has_tif = |tif: &TifKind| !self.has_tif(order_type) || self.times_in_force.code(*tif).is_some();
            TifKind::ALL.into_iter().filter(has_tif).collect()
        };
        let offered = OrderType::ALL.into_iter().filter(has_type);
        offered.map(|order_type| OfferedOrderType { order_type, times_in_force: times_in_force(order_type) }).collect()
    }

    /// Whether orders of this type have TimeInForce (59).
    pub fn has_tif(&self, order_type: OrderType) -> bool {
        self.market_tif || order_type != OrderType::Market
    }
}

/// Side (54).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SideCodes {
    pub buy: String,
    pub sell: String,
}

impl SideCodes {
    pub fn code(&self, side: Side) -> &str {
        match side {
            Side::Buy => &self.buy,
            Side::Sell => &self.sell,
        }
    }
}

/// OrdType (40); a type without a code is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypeCodes {
    pub market: Option<String>,
    pub limit: Option<String>,
    pub stop: Option<String>,
    pub stop_limit: Option<String>,
}

impl TypeCodes {
    pub fn code(&self, order_type: OrderType) -> Option<&str> {
        let code = match order_type {
            OrderType::Market => &self.market,
            OrderType::Limit => &self.limit,
            OrderType::Stop => &self.stop,
            OrderType::StopLimit => &self.stop_limit,
        };
        code.as_deref()
    }

    /// The type of this code, where the dialect has one.
    pub fn order_type(&self, code: &str) -> Option<OrderType> {
        OrderType::ALL.into_iter().find(|order_type| self.code(*order_type) == Some(code))
    }
}

/// TimeInForce (59); one without a code is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TifCodes {
    pub day: Option<String>,
    pub gtc: Option<String>,
    pub ato: Option<String>,
    pub ioc: Option<String>,
    pub fok: Option<String>,
    pub gtd: Option<String>,
    pub atc: Option<String>,
}

impl TifCodes {
    pub fn code(&self, tif: TifKind) -> Option<&str> {
        let code = match tif {
            TifKind::Day => &self.day,
            TifKind::Gtc => &self.gtc,
            TifKind::Ato => &self.ato,
            TifKind::Ioc => &self.ioc,
            TifKind::Fok => &self.fok,
            TifKind::Gtd => &self.gtd,
            TifKind::Atc => &self.atc,
        };
        code.as_deref()
    }
}

/// The fields of order properties; one without a field is not offered.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PropertyFields {
    /// Tag and value.
    pub post_only: Option<(Tag, String)>,
    pub display_quantity: Option<Tag>,
    pub min_quantity: Option<Tag>,
}

impl PropertyFields {
    pub fn offered(&self) -> Vec<OrderProperty> {
        let offered = [self.post_only.is_some(), self.display_quantity.is_some(), self.min_quantity.is_some()];
        OrderProperty::ALL.into_iter().zip(offered).filter(|(_, is_offered)| *is_offered).map(|(p, _)| p).collect()
    }

    pub fn tags(&self) -> impl Iterator<Item = Tag> {
        let post_only = self.post_only.as_ref().map(|(tag, _)| *tag);
        [post_only, self.display_quantity, self.min_quantity].into_iter().flatten()
    }
}

/// Fields that some messages do not have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OmittedFields {
    pub messages: Vec<String>,
    pub tags: Vec<Tag>,
}

/// How Execution Reports (8) are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExecutionRules {
    /// ExecTransType (20) says whether an execution is new, busted, corrected or a status, as until FIX 4.2.
    pub has_exec_trans_type: bool,
    /// The field that names an execution.
    pub exec_id_tag: Tag,
    pub exec_ids: ExecIdRule,
    /// Ids are unique in a symbol alone, so it is part of them.
    pub exec_ids_of_symbol: bool,
    /// Whether LeavesQty (151) can be relied on.
    pub leaves_qty: bool,
    /// A status report (150=I) with OrigClOrdID (41) confirms a cancel or a replace.
    pub status_confirms: bool,
    /// Commission (12) with CommCurrency (479) is the charge of a fill.
    pub commission: bool,
    /// The group of MiscFees (136) has the charges of a fill: amount (137) and currency (138).
    pub misc_fees: bool,
    /// The group of Fills (1362) has the executions, also of a status report: id (1363), price (1364), quantity (1365) and role (1443).
    pub fill_group: bool,
    /// Meanings of ExecType (150).
    pub exec_types: Vec<(String, ExecKind)>,
    /// Meanings of OrdStatus (39).
    pub statuses: Vec<(String, OrdState)>,
}

impl Dialect {
    /// Single fields, and then groups.
    pub fn added(&self) -> impl Iterator<Item = &ExtraField> {
        self.fields.iter().chain(&self.groups)
    }

    pub fn omits(&self, msg_type: &str, tag: Tag) -> bool {
        let names = |messages: &[String]| messages.iter().any(|message| message == msg_type);
        self.omitted.iter().any(|omitted| names(&omitted.messages) && omitted.tags.contains(&tag))
    }
}

impl ExecutionRules {
    pub fn exec_kind(&self, code: &str) -> Option<ExecKind> {
        self.exec_types.iter().find(|(known, _)| known == code).map(|(_, kind)| *kind)
    }

    pub fn state(&self, code: &str) -> Option<OrdState> {
        self.statuses.iter().find(|(known, _)| known == code).map(|(_, state)| *state)
    }
}

/// Whether a venue gives an ExecID once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExecIdRule {
    /// Never twice for one order.
    Unique,
    /// They begin at 1 again after a restart: CumQty (14) tells two executions of one order apart.
    Repeat,
}

/// How missed reports come back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryRules {
    /// Numbers go on from one connection to the next, and missed messages come again.
    pub resend: bool,
    pub orders: OrderQuery,
    /// Executions are asked for by a Trade Capture Report Request (AD).
    pub trades: bool,
    /// Where executions are missing and the venue cannot tell them, they are inferred from the status of their order.
    pub infers_fills: bool,
    /// Positions are asked for by a Request for Positions (AN).
    pub positions: bool,
    /// After a log-on all orders are asked for (AF), and their executions.
    pub snapshot: bool,
    /// While the session is up all open orders are asked for (AF).
    pub open_orders: bool,
    /// While the session is up executions are asked for (AD), from the last one on.
    pub fills: bool,
    /// The field that says how many of them one answer has at most, the oldest.
    pub fills_limit_tag: Option<Tag>,
    /// The field that asks a mass status (AF) for orders that have ended too.
    pub ended_orders_tag: Option<Tag>,
    /// How long after sending a request can still take effect.
    pub request_life_seconds: Option<u32>,
    /// How long after a change the venue's answers may still lack it.
    pub read_lag_millis: u32,
}

/// How the venue is asked about an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OrderQuery {
    /// Order Status Request (H).
    Status,
    /// Order Mass Status Request (AF).
    MassStatus,
    /// Another adapter of the same venue is asked.
    Adapter,
    None,
}

/// No more than so many messages in so many seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Throttle {
    pub messages: u32,
    pub seconds: u32,
}

/// How prices are asked for: Market Data Request (V).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketDataRules {
    /// MarketDepth (264): 0 is the whole book.
    pub depth: usize,
    pub updates: BookUpdates,
    /// Whether trades are asked for too.
    pub trades: bool,
    /// AggregatedBook (266), where the venue wants it.
    pub aggregated: Option<bool>,
    /// Whether the numbers of a session for market data alone begin at 1 at each log-on: nothing of it is needed again.
    pub reset_on_logon: bool,
    /// Prices and securities come over a session of their own alone.
    pub own_session: bool,
    /// QuoteCondition (276) of a price that may no longer be true.
    pub stale_condition: Option<String>,
    /// Fields of the dialect on the request (V).
    pub fields: Vec<TextField>,
}

/// MDUpdateType (265).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BookUpdates {
    /// Each update is a snapshot (W).
    Full,
    /// A snapshot, and then changes (X).
    Incremental,
}

/// What SecurityTradingStatus (326) means; codes that are not here change nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityStatusRules {
    pub codes: Vec<(String, ListingStatus)>,
    /// Fields of the dialect on the request (e).
    pub fields: Vec<TextField>,
}

/// Where the filters of a listed security stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecurityListRules {
    pub tick_tag: Tag,
    pub lot_tag: Tag,
    pub min_quantity_tag: Tag,
    pub max_quantity_tag: Tag,
    /// The list is subscribed to: it comes again, whole, when it has changed.
    pub updates: bool,
    /// Fields of the dialect on the request (x).
    pub fields: Vec<TextField>,
}
