//! Market Data Request (V): which prices of which securities, and whether they are kept up to date.

use std::collections::BTreeSet;

use domain::{ReferenceData, SecurityId};
use fix::{FixMessage, MessageFault};

use super::{id_fault, missing_field, named_securities};
use crate::limits::{BOOK_LEVELS_MAX, REQUEST_ID_BYTES_MAX, REQUESTED_SECURITIES_MAX};
use crate::translate::field::{
    AGGREGATED_BOOK, MARKET_DEPTH, MD_ENTRY_TYPE, MD_IMPLICIT_DELETE, MD_REQ_ID, MD_UPDATE_TYPE, NO_MD_ENTRY_TYPES,
    NO_RELATED_SYM, NO_TRADING_SESSIONS, OPEN_CLOSE_SETTL_FLAG, SCOPE, SUBSCRIPTION_REQUEST_TYPE, tag_with_name,
};
use crate::translate::field_reader::{MessageReject, text_field};

/// MDReqRejReason (281).
const UNKNOWN_SYMBOL: &str = "0";
const DUPLICATE: &str = "1";
const TOO_MUCH: &str = "2";
const BAD_SUBSCRIPTION: &str = "4";
const BAD_DEPTH: &str = "5";
const BAD_UPDATE_TYPE: &str = "6";
const BAD_AGGREGATION: &str = "7";
const BAD_ENTRY_TYPE: &str = "8";
/// Fields whose every value is refused, and the reason.
const NOT_OFFERED: [(fix::tag::Tag, &str); 3] =
    [(NO_TRADING_SESSIONS, "9"), (SCOPE, "A"), (OPEN_CLOSE_SETTL_FLAG, "B")];
const BAD_IMPLICIT_DELETE: &str = "C";

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MarketDataRequest {
    pub(crate) id: String,
    pub(crate) subscription: SubscriptionKind,
    pub(crate) view: PriceView,
    /// Each once.
    pub(crate) securities: BTreeSet<SecurityId>,
}

/// SubscriptionRequestType (263).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SubscriptionKind {
    Snapshot,
    Updates,
    End,
}

/// Which prices of a security are wanted, and how they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PriceView {
    /// MarketDepth (264): levels of each side, 0 is all.
    pub(crate) depth: usize,
    /// MDUpdateType (265) 0: each update is a whole snapshot.
    pub(crate) is_full_refresh: bool,
    pub(crate) bids: bool,
    pub(crate) offers: bool,
    pub(crate) trades: bool,
}

/// Why a request is refused: MDReqRejReason (281) where it has one, and what is in Text (58).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MarketDataRefusal {
    pub(crate) reason: Option<&'static str>,
    pub(crate) reject: MessageReject,
}

impl MarketDataRefusal {
    fn new(reason: &'static str, reject: MessageReject) -> Self {
        Self { reason: Some(reason), reject }
    }

    fn not_offered(reason: &'static str, text: &str) -> Self {
        Self::new(reason, MessageReject::other("not-offered", text))
    }

    pub(crate) fn duplicate(id: &str) -> Self {
        let text = format!("MDReqID (262) {} is in use", shown(id));
        Self::new(DUPLICATE, MessageReject::other("duplicate-request", &text))
    }

    /// The standard has no reason for it.
    pub(crate) fn unknown(id: &str) -> Self {
        let text = format!("no request has MDReqID (262) {}", shown(id));
        Self { reason: None, reject: MessageReject::other("unknown-request", &text) }
    }

    pub(crate) fn too_many(most: u32) -> Self {
        let text = format!("more than {most} securities of all requests (MaxSubscriptions)");
        Self::new(TOO_MUCH, MessageReject::other("too-many-subscriptions", &text))
    }
}

fn shown(id: &str) -> String {
    id.chars().take(crate::limits::REPEATED_CHARS_MAX).collect()
}

impl MarketDataRequest {
    /// The error of a message that cannot be answered by Y.
    pub(crate) fn fault_in(message: &FixMessage<'_>) -> Option<MessageFault> {
        let ends = message.get(SUBSCRIPTION_REQUEST_TYPE) == Some(b"2");
        let required: &[_] = match ends {
            true => &[MD_REQ_ID],
            false => &[MD_REQ_ID, SUBSCRIPTION_REQUEST_TYPE, MARKET_DEPTH, NO_MD_ENTRY_TYPES, NO_RELATED_SYM],
        };
        missing_field(message, required).or_else(|| id_fault(message, MD_REQ_ID))
    }

    pub(crate) fn from_message(message: &FixMessage<'_>, reference: &ReferenceData) -> Result<Self, MarketDataRefusal> {
        let id = text_field(message, MD_REQ_ID).unwrap_or_default();
        let subscription = subscription(message)?;
        if subscription == SubscriptionKind::End {
            let view = PriceView { depth: 0, is_full_refresh: false, bids: false, offers: false, trades: false };
            return Ok(Self { id, subscription, view, securities: BTreeSet::new() });
        }
        if id.len() > REQUEST_ID_BYTES_MAX {
            let text = format!("MDReqID (262) has more than {REQUEST_ID_BYTES_MAX} bytes");
            return Err(MarketDataRefusal { reason: None, reject: MessageReject::other("too-large", &text) });
        }
        check_offered(message)?;
        let view = view(message)?;
        Ok(Self { id, subscription, view, securities: securities(message, reference)? })
    }
}

fn subscription(message: &FixMessage<'_>) -> Result<SubscriptionKind, MarketDataRefusal> {
    match message.get(SUBSCRIPTION_REQUEST_TYPE) {
        Some(b"0") => Ok(SubscriptionKind::Snapshot),
        Some(b"1") => Ok(SubscriptionKind::Updates),
        Some(b"2") => Ok(SubscriptionKind::End),
        other => Err(bad_value(BAD_SUBSCRIPTION, SUBSCRIPTION_REQUEST_TYPE, other, "0, 1 or 2")),
    }
}

fn check_offered(message: &FixMessage<'_>) -> Result<(), MarketDataRefusal> {
    let is_given = |tag| message.get(tag).is_some_and(|value: &[u8]| !matches!(value, b"" | b"0"));
    if let Some((tag, reason)) = NOT_OFFERED.into_iter().find(|(tag, _)| is_given(*tag)) {
        return Err(MarketDataRefusal::not_offered(reason, &format!("{} is not offered", tag_with_name(tag))));
    }
    if message.get(AGGREGATED_BOOK).is_some_and(|value| value != b"Y") {
        let text = "AggregatedBook (266) is Y: the entries of a book are prices, not orders";
        return Err(MarketDataRefusal::not_offered(BAD_AGGREGATION, text));
    }
    if message.get(MD_IMPLICIT_DELETE).is_some_and(|value| value != b"N") {
        let text = "MDImplicitDelete (547) is N: an entry that leaves the book is deleted";
        return Err(MarketDataRefusal::not_offered(BAD_IMPLICIT_DELETE, text));
    }
    Ok(())
}

fn view(message: &FixMessage<'_>) -> Result<PriceView, MarketDataRefusal> {
    let depth = message.get(MARKET_DEPTH).and_then(|value| std::str::from_utf8(value).ok()?.parse::<usize>().ok());
    let Some(depth) = depth.filter(|depth| *depth <= BOOK_LEVELS_MAX) else {
        let wanted = format!("0 (all levels), 1 (best prices) or a number of levels up to {BOOK_LEVELS_MAX}");
        return Err(bad_value(BAD_DEPTH, MARKET_DEPTH, message.get(MARKET_DEPTH), &wanted));
    };
    let is_full_refresh = match message.get(MD_UPDATE_TYPE) {
        None | Some(b"0" | b"") => true,
        Some(b"1") => false,
        other => return Err(bad_value(BAD_UPDATE_TYPE, MD_UPDATE_TYPE, other, "0 (whole books) or 1 (changes)")),
    };
    let mut view = PriceView { depth, is_full_refresh, bids: false, offers: false, trades: false };
    let types = message.fields().filter(|field| field.tag == MD_ENTRY_TYPE);
    for entry_type in types {
        match entry_type.value {
            b"0" => view.bids = true,
            b"1" => view.offers = true,
            b"2" => view.trades = true,
            other => {
                let wanted = "0 (bid), 1 (offer) or 2 (trade)";
                return Err(bad_value(BAD_ENTRY_TYPE, MD_ENTRY_TYPE, Some(other), wanted));
            }
        }
    }
    if !(view.bids || view.offers || view.trades) {
        return Err(MarketDataRefusal::new(BAD_ENTRY_TYPE, MessageReject::missing(MD_ENTRY_TYPE)));
    }
    Ok(view)
}

fn securities(message: &FixMessage<'_>, reference: &ReferenceData) -> Result<BTreeSet<SecurityId>, MarketDataRefusal> {
    let named = named_securities(message, NO_RELATED_SYM);
    let unknown = |reject| MarketDataRefusal::new(UNKNOWN_SYMBOL, reject);
    if named.len() > REQUESTED_SECURITIES_MAX {
        let text = format!("more than {REQUESTED_SECURITIES_MAX} securities in one request");
        return Err(MarketDataRefusal::new(TOO_MUCH, MessageReject::other("too-many-securities", &text)));
    }
    let mut securities = BTreeSet::new();
    for names in &named {
        let missing = || MessageReject::other("missing-field", "Symbol (55) or SecurityID (48) is needed");
        securities.insert(names.resolve(reference).map_err(unknown)?.ok_or_else(|| unknown(missing()))?.id);
    }
    if securities.is_empty() {
        return Err(unknown(MessageReject::other("missing-field", "NoRelatedSym (146) names no security")));
    }
    Ok(securities)
}

fn bad_value(reason: &'static str, tag: fix::tag::Tag, value: Option<&[u8]>, wanted: &str) -> MarketDataRefusal {
    MarketDataRefusal::new(reason, MessageReject::invalid(tag, value.unwrap_or_default(), wanted))
}
