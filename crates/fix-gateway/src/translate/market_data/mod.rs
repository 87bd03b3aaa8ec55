//! Market data: requests for prices (V), books and trades (W, X), refusals (Y), and securities (x, y, e, f).

mod price_entries;
mod price_messages;
mod price_request;
mod security_list;
mod security_status;

use fix::tag::Tag;
use fix::{FixMessage, MessageFault, SessionRejectReason};

use super::resolve::SecurityNames;
use crate::translate::field::{SECURITY_EXCHANGE, SECURITY_ID, SECURITY_ID_SOURCE, SYMBOL};

pub(crate) use price_entries::{NewestTrade, PriceEntry, changes_between, entries_of};
pub(crate) use price_messages::{PricedSecurity, market_data_refused, price_refresh, price_snapshot};
pub(crate) use price_request::{MarketDataRefusal, MarketDataRequest, PriceView, SubscriptionKind};
pub(crate) use security_list::{SecurityListRequest, security_list_part, security_list_refused};
pub(crate) use security_status::{SecurityStatusRequest, security_status, trading_status};

/// Whether a message asks for prices or securities.
pub(crate) fn is_market_data_request(msg_type: &[u8]) -> bool {
    matches!(msg_type, b"V" | b"x" | b"e")
}

/// The first of these that a message does not have: without them it has no answer at application level.
fn missing_field(message: &FixMessage<'_>, required: &[Tag]) -> Option<MessageFault> {
    let is_given = |tag: Tag| message.get(tag).is_some_and(|value| !value.is_empty());
    let missing = required.iter().find(|tag| !is_given(**tag))?;
    Some(MessageFault::at(SessionRejectReason::RequiredTagMissing, *missing))
}

/// An id that answers repeat is text.
fn id_fault(message: &FixMessage<'_>, id: Tag) -> Option<MessageFault> {
    let is_text = message.get(id).is_some_and(|value| std::str::from_utf8(value).is_ok());
    (!is_text).then(|| MessageFault::at(SessionRejectReason::IncorrectDataFormat, id))
}

/// The securities of a group, each as its members name it. A member begins with Symbol (55), or with SecurityID (48) where it has none.
fn named_securities(message: &FixMessage<'_>, count: Tag) -> Vec<SecurityNames> {
    let mut all: Vec<SecurityNames> = Vec::new();
    for field in message.fields().skip_while(|field| field.tag != count).skip(1) {
        let begins =
            field.tag == SYMBOL || (field.tag == SECURITY_ID && all.last().is_none_or(|last| last.id.is_some()));
        if begins {
            all.push(SecurityNames::default());
        }
        let Some(names) = all.last_mut() else { continue };
        let text = || Some(String::from_utf8_lossy(field.value).into_owned()).filter(|text| !text.is_empty());
        match field.tag {
            SYMBOL => names.symbol = text(),
            SECURITY_ID => names.id = text(),
            SECURITY_ID_SOURCE => names.id_source = text(),
            SECURITY_EXCHANGE => names.exchange = text().map(|name| (SECURITY_EXCHANGE, name)),
            _ => {}
        }
    }
    all
}
