//! Entries of a Market Data Snapshot (W) or Incremental Refresh (X).

use domain::{Decimal, Side, Timestamp};
use fix::tag::Tag;
use fix::{FixMessage, UtcTimestamp};

const NO_ENTRIES: Tag = 268;
const ENTRY_TYPE: Tag = 269;
const UPDATE_ACTION: Tag = 279;
/// A time of day further ahead than this is yesterday's.
const AHEAD_SECONDS_MAX: i64 = 3_600;

/// MDEntryType (269); other types are not needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryType {
    Bid,
    Offer,
    Trade,
}

/// MDUpdateAction (279).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EntryAction {
    New,
    Change,
    Delete,
}

/// One entry. Which fields it has depends on its action: a deletion may have its id alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MarketEntry {
    pub action: EntryAction,
    /// Absent where the entry has none, or one that is not needed.
    pub entry_type: Option<EntryType>,
    /// It has no type at all.
    pub is_untyped: bool,
    /// MDEntryID (278).
    pub id: Option<String>,
    /// MDEntryRefID (280): the id that it had before.
    pub previous_id: Option<String>,
    /// Absent where it is that of the entry before.
    pub symbol: Option<String>,
    pub price: Option<Decimal>,
    pub size: Option<Decimal>,
    pub at: Option<Timestamp>,
    /// AggressorSide (2446).
    pub aggressor: Option<Side>,
    /// QuoteCondition (276): several with blanks between.
    pub condition: Option<String>,
    /// Text (58).
    pub text: Option<String>,
}

/// An entry of which nothing can be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct BadEntry(pub String);

/// The entries of a message. In W each begins with its type, in X with its action.
pub(crate) fn entries_of(message: &FixMessage<'_>) -> Result<Vec<MarketEntry>, BadEntry> {
    let is_refresh = message.msg_type() == b"X";
    let begins = if is_refresh { UPDATE_ACTION } else { ENTRY_TYPE };
    let sent = message.time(52);
    let mut groups: Vec<Vec<(Tag, &str)>> = Vec::new();
    let group = message.fields().skip_while(|field| field.tag != NO_ENTRIES).skip(1);
    for field in group {
        if field.tag == begins {
            groups.push(Vec::new());
        }
        if let Some(entry) = groups.last_mut() {
            let text = std::str::from_utf8(field.value).map_err(|_| bad(field.tag, "is no text"))?;
            entry.push((field.tag, text));
        }
    }
    let told = message.number(NO_ENTRIES).unwrap_or_default();
    if usize::try_from(told) != Ok(groups.len()) {
        return Err(BadEntry(format!("NoMDEntries (268) is {told}, and there are {}", groups.len())));
    }
    groups.iter().map(|group| entry(group, sent)).collect()
}

fn entry(group: &[(Tag, &str)], sent: Option<UtcTimestamp>) -> Result<MarketEntry, BadEntry> {
    let text = |tag: Tag| group.iter().find(|(known, _)| *known == tag).map(|(_, text)| *text);
    let number = |tag: Tag| {
        let read = |text| Decimal::from_str_exact(text).map_err(|_| bad(tag, "is no number"));
        text(tag).map(read).transpose()
    };
    let action = match text(UPDATE_ACTION) {
        None | Some("0") => EntryAction::New,
        Some("1") => EntryAction::Change,
        Some("2") => EntryAction::Delete,
        Some(_) => return Err(bad(UPDATE_ACTION, "is unknown")),
    };
    Ok(MarketEntry {
        action,
        entry_type: text(ENTRY_TYPE).and_then(entry_type),
        is_untyped: text(ENTRY_TYPE).is_none(),
        id: text(278).map(str::to_owned),
        previous_id: text(280).map(str::to_owned),
        symbol: text(55).map(str::to_owned),
        price: number(270)?,
        size: number(271)?,
        at: sent.and_then(|sent| entry_time(text(272), text(273), sent)),
        aggressor: text(2446).and_then(|side| match side {
            "1" => Some(Side::Buy),
            "2" => Some(Side::Sell),
            _ => None,
        }),
        condition: text(276).map(str::to_owned),
        text: text(58).map(str::to_owned),
    })
}

fn entry_type(code: &str) -> Option<EntryType> {
    match code {
        "0" => Some(EntryType::Bid),
        "1" => Some(EntryType::Offer),
        "2" => Some(EntryType::Trade),
        _ => None,
    }
}

/// MDEntryDate (272) and MDEntryTime (273). A time without a date is the latest one that is not ahead of the message.
fn entry_time(date: Option<&str>, time: Option<&str>, sent: UtcTimestamp) -> Option<Timestamp> {
    let time = time?;
    let today = || {
        let mut text = Vec::new();
        sent.write(0, &mut text);
        String::from_utf8(text).ok()?.get(..8).map(str::to_owned)
    };
    let date_text = date.map_or_else(today, |date| Some(date.to_owned()))?;
    let at = UtcTimestamp::parse(format!("{date_text}-{time}").as_bytes())?;
    let is_ahead = at > sent.plus_seconds(AHEAD_SECONDS_MAX);
    let at = if date.is_none() && is_ahead { at.plus_seconds(-86_400) } else { at };
    Some(Timestamp(at.nanos()))
}

fn bad(tag: Tag, reason: &str) -> BadEntry {
    BadEntry(format!("an entry's {tag} {reason}"))
}
