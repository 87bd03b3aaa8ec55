//! Trade Capture Report Request (AD): which executions of its own orders a client asks for.

use domain::{Order, ReferenceData, SecurityId, Text, Timestamp};
use fix::tag::Tag;
use fix::{FixMessage, UtcTimestamp};

use crate::translate::field::{
    CL_ORD_ID, NO_DATES, ORDER_ID, SUBSCRIPTION_REQUEST_TYPE, TRADE_DATE, TRADE_REQUEST_TYPE, TRANSACT_TIME,
    WITH_LIQUIDITY,
};
use crate::translate::field_reader::{MessageReject, flag, text_field};
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
        })
    }

    /// Whether the order can have executions that are asked for.
    pub(crate) fn covers(&self, order: &Order) -> bool {
        order.filled.is_positive()
            && self.security.is_none_or(|security| security == order.security)
            && self.from.is_none_or(|from| order.changed_at >= from)
    }

    pub(crate) fn covers_time(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| at >= from) && self.to.is_none_or(|to| at <= to)
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

/// One time: from then on. One date: that day. Two: from the first to the second.
fn dates(message: &FixMessage<'_>) -> Result<(Option<Timestamp>, Option<Timestamp>), MessageReject> {
    let group = message.fields().skip_while(|field| field.tag != NO_DATES);
    let stretches: Vec<_> = group.filter_map(|field| stretch(field.tag, field.value)).collect();
    let stretches = stretches.into_iter().collect::<Result<Vec<_>, _>>()?;
    match (message.number(NO_DATES).unwrap_or_default(), &stretches[..]) {
        (0, []) => Ok((None, None)),
        (1, [(from, to)]) => Ok((Some(*from), *to)),
        (2, [(from, _), (last, end)]) => Ok((Some(*from), Some(end.unwrap_or(*last)))),
        _ => Err(MessageReject::other(
            "bad-field",
            "NoDates (580) is 1 or 2, each with TransactTime (60) or TradeDate (75)",
        )),
    }
}

/// From when, and until when where it is a whole day.
fn stretch(tag: Tag, value: &[u8]) -> Option<Result<(Timestamp, Option<Timestamp>), MessageReject>> {
    let time = match tag {
        TRANSACT_TIME => UtcTimestamp::parse(value),
        TRADE_DATE => UtcTimestamp::parse(&[value, b"-00:00:00"].concat()),
        _ => return None,
    };
    let read = time.map(|time| Timestamp(time.nanos()));
    let end = |from: Timestamp| (tag == TRADE_DATE).then(|| Timestamp(from.0.saturating_add(NANOS_PER_DAY - 1)));
    let wanted = if tag == TRADE_DATE { "a date such as 20260105" } else { "a UTC time such as 20260105-14:30:00" };
    Some(read.map(|from| (from, end(from))).ok_or_else(|| MessageReject::invalid(tag, value, wanted)))
}
