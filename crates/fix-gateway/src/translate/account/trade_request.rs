//! Trade Capture Report Request (AD): which executions of its own orders a client asks for.

use domain::{Order, ReferenceData, SecurityId, Text, Timestamp};
use fix::{FixMessage, UtcTimestamp};

use crate::limits::CAPTURED_TRADES_MAX;
use crate::translate::field::{
    CL_ORD_ID, MAX_TRADES, NO_DATES, ORDER_ID, SUBSCRIPTION_REQUEST_TYPE, TRADE_DATE, TRADE_REQUEST_TYPE,
    TRANSACT_TIME, WITH_LIQUIDITY,
};
use crate::translate::field_reader::{MessageReject, flag, optional, text_field};
use crate::translate::reject_codes::UNKNOWN_SYMBOL;
use crate::translate::resolve;

/// TradeRequestResult (749).
const UNKNOWN_INSTRUMENT: u64 = 1;
const UNSUPPORTED_TYPE: u64 = 8;
const OTHER: u64 = 99;

const NANOS_PER_DAY: i64 = 24 * 3_600 * 1_000_000_000;

/// What is asked for; absent fields do not narrow it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct TradeRequest {
    /// By any id that the client used for it, or by ours.
    pub(crate) order: Option<Text>,
    pub(crate) security: Option<SecurityId>,
    /// Executed at this instant or later.
    pub(crate) from: Option<Timestamp>,
    /// Executed at this instant or earlier.
    pub(crate) to: Option<Timestamp>,
    /// LastLiquidityInd (851) is wanted.
    pub(crate) with_liquidity: bool,
    /// So many at the most, the oldest; absent where all are wanted or none.
    pub(crate) part: Option<usize>,
}

/// Why it is not answered: TradeRequestResult (749), and what is in Text (58).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TradeRefusal {
    pub(crate) result: u64,
    pub(crate) reject: MessageReject,
}

impl From<MessageReject> for TradeRefusal {
    fn from(reject: MessageReject) -> Self {
        let result = if reject.reason == UNKNOWN_SYMBOL { UNKNOWN_INSTRUMENT } else { OTHER };
        Self { result, reject }
    }
}

impl TradeRequest {
    pub(crate) fn from_message(message: &FixMessage<'_>, reference: &ReferenceData) -> Result<Self, TradeRefusal> {
        check_type(message)?;
        let (from, to) = dates(message)?;
        Ok(Self {
            order: text_field(message, CL_ORD_ID).or_else(|| text_field(message, ORDER_ID)).map(Text::from),
            security: resolve::security(message, reference)?.map(|security| security.id),
            from,
            to,
            with_liquidity: flag(message, WITH_LIQUIDITY)?,
            part: part(message)?,
        })
    }

    /// Whether the order can have executions that are asked for, also where nothing is left of them: all of it was taken back.
    pub(crate) fn covers(&self, order: &Order) -> bool {
        self.security.is_none_or(|security| security == order.security)
            && self.from.is_none_or(|from| order.changed_at >= from)
    }

    pub(crate) fn covers_time(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at <= to)
    }
}

fn part(message: &FixMessage<'_>) -> Result<Option<usize>, MessageReject> {
    let wanted = format!("a number from 1 to {CAPTURED_TRADES_MAX}");
    match optional(message, MAX_TRADES, &wanted)? {
        Some(part) if !(1..=CAPTURED_TRADES_MAX).contains(&part) => {
            Err(MessageReject::invalid(MAX_TRADES, part.to_string().as_bytes(), &wanted))
        }
        part => Ok(part),
    }
}

fn check_type(message: &FixMessage<'_>) -> Result<(), TradeRefusal> {
    if !matches!(message.get(TRADE_REQUEST_TYPE), Some(b"0" | b"1")) {
        let text = "TradeRequestType (569) is 0 (all trades) or 1 (those that match)";
        return Err(TradeRefusal { result: UNSUPPORTED_TYPE, reject: MessageReject::other("not-offered", text) });
    }
    match message.get(SUBSCRIPTION_REQUEST_TYPE) {
        None | Some(b"0") => Ok(()),
        Some(_) => {
            let text = "SubscriptionRequestType (263) is 0: executions are told by reports (8) as they happen";
            Err(TradeRefusal { result: UNSUPPORTED_TYPE, reject: MessageReject::other("not-offered", text) })
        }
    }
}

/// One entry with a time: from then on. One with a date alone: that day. Two: from the first to the second.
fn dates(message: &FixMessage<'_>) -> Result<(Option<Timestamp>, Option<Timestamp>), MessageReject> {
    let entries = date_entries(message)?;
    match (message.number(NO_DATES).unwrap_or_default(), &entries[..]) {
        (0, []) => Ok((None, None)),
        (1, [entry]) => Ok((Some(entry.from), entry.until)),
        (2, [first, last]) => Ok((Some(first.from), Some(last.until.unwrap_or(last.from)))),
        _ => {
            let text = "NoDates (580) is 1 or 2, each with TradeDate (75), TransactTime (60) or both";
            Err(MessageReject::other("bad-field", text))
        }
    }
}

/// An instant, or a whole day.
#[derive(Clone, Copy)]
struct DateEntry {
    from: Timestamp,
    until: Option<Timestamp>,
}

/// TradeDate (75) begins an entry; TransactTime (60) behind it says when on that day.
fn date_entries(message: &FixMessage<'_>) -> Result<Vec<DateEntry>, MessageReject> {
    let mut entries: Vec<DateEntry> = Vec::new();
    for field in message.fields().skip_while(|field| field.tag != NO_DATES) {
        match field.tag {
            TRADE_DATE => {
                let day =
                    UtcTimestamp::parse(&[field.value, b"-00:00:00"].concat()).map(|time| Timestamp(time.nanos()));
                let invalid = || MessageReject::invalid(TRADE_DATE, field.value, "a date such as 20260105");
                let from = day.ok_or_else(invalid)?;
                entries.push(DateEntry { from, until: Some(Timestamp(from.0.saturating_add(NANOS_PER_DAY - 1))) });
            }
            TRANSACT_TIME => {
                let time = UtcTimestamp::parse(field.value).map(|time| Timestamp(time.nanos()));
                let wanted = "a UTC time such as 20260105-14:30:00";
                let from = time.ok_or_else(|| MessageReject::invalid(TRANSACT_TIME, field.value, wanted))?;
                match entries.last_mut().filter(|entry| entry.until.is_some()) {
                    Some(entry) => *entry = DateEntry { from, until: None },
                    None => entries.push(DateEntry { from, until: None }),
                }
            }
            _ => {}
        }
    }
    Ok(entries)
}
