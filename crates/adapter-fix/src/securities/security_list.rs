//! What a venue lists: Security List Request (x), Security List (y), and Security Status (f).

use std::collections::BTreeMap;

use domain::report::{ListingStatus, VenueListing};
use domain::{Decimal, Price, Quantity, Text};
use fix::tag::Tag;
use fix::{FixMessage, OutgoingMessage};

use crate::dialect::SecurityListRules;

/// Securities of one list; a venue that sends more is not followed.
pub(crate) const LISTED_MAX: usize = 100_000;
/// Where a row of the list begins.
const SYMBOL: Tag = 55;
const NO_RELATED_SYM: Tag = 146;

/// A security as the venue lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SecurityListRow {
    pub symbol: Text,
    /// What is bought and sold, where the venue tells.
    pub base: Option<Text>,
    /// Currency (15).
    pub quote: Option<Text>,
    pub listing: VenueListing,
}

/// Asks for the list and collects it; pure.
#[derive(Debug)]
pub struct SecurityList {
    rules: SecurityListRules,
    begun_seconds: i64,
    number: u64,
    /// What has come of the list that is asked for.
    rows: Option<Vec<SecurityListRow>>,
    /// The whole list, by symbol; absent before the first one.
    listed: Option<BTreeMap<Text, SecurityListRow>>,
}

/// What a message of the venue means for the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SecurityListStep {
    /// It is not about the list, or more of it must come.
    Nothing,
    /// The list is whole, or a status has changed.
    Changed,
    Refused(String),
}

impl SecurityList {
    pub fn new(rules: SecurityListRules, begun_seconds: i64) -> Self {
        Self { rules, begun_seconds, number: 0, rows: None, listed: None }
    }

    /// All securities; an older question counts no more.
    pub fn request(&mut self) -> OutgoingMessage {
        self.number += 1;
        self.rows = Some(Vec::new());
        let mut message = OutgoingMessage::new("x");
        message.field(320, self.request_id()).field(559, "4");
        if self.rules.updates {
            message.field(263, "1");
        }
        for field in &self.rules.fields {
            field.write(&mut message);
        }
        message
    }

    fn request_id(&self) -> String {
        format!("L{:x}-{}", self.begun_seconds, self.number)
    }

    /// Whether the first list is asked for and has not come.
    pub(crate) fn is_awaited(&self) -> bool {
        self.rows.is_some() && self.listed.is_none()
    }

    /// What is listed under a symbol; nothing before the first whole list.
    pub(crate) fn listing(&self, symbol: &str) -> Option<VenueListing> {
        let unlisted = || VenueListing::new(ListingStatus::Unlisted);
        Some(self.listed.as_ref()?.get(symbol).map_or_else(unlisted, |security| security.listing))
    }

    pub(crate) fn securities(&self) -> impl Iterator<Item = &SecurityListRow> {
        self.listed.iter().flat_map(BTreeMap::values)
    }

    pub(crate) fn on_message(&mut self, message: &FixMessage<'_>) -> SecurityListStep {
        match message.msg_type() {
            b"y" => self.on_list(message),
            b"f" => self.on_status(message),
            b"3" | b"j" if message.get(372) == Some(b"x") => self.refuse(message.text(58).unwrap_or("rejected")),
            _ => SecurityListStep::Nothing,
        }
    }

    /// What else comes of it is of no use.
    fn refuse(&mut self, reason: &str) -> SecurityListStep {
        self.rows = None;
        self.number += 1;
        SecurityListStep::Refused(reason.to_owned())
    }

    fn on_list(&mut self, message: &FixMessage<'_>) -> SecurityListStep {
        if message.text(320) != Some(self.request_id().as_str()) {
            return SecurityListStep::Nothing;
        }
        if self.rules.updates {
            // It comes again when it has changed.
            self.rows.get_or_insert_default();
        }
        // SecurityRequestResult (560): 0 is a valid answer, and some venues leave it out.
        if let Some(result) = message.text(560).filter(|result| *result != "0") {
            return self.refuse(&format!("SecurityRequestResult (560) is {result}"));
        }
        let Some(rows) = &mut self.rows else { return SecurityListStep::Nothing };
        rows.extend(rows_of(message, &self.rules));
        if rows.len() > LISTED_MAX {
            return self.refuse(&format!("there are more than {LISTED_MAX} securities"));
        }
        let is_whole = match (message.text(893), message.number(393)) {
            (Some(last), _) => last == "Y",
            (None, Some(total)) => u64::try_from(rows.len()).is_ok_and(|count| count >= total),
            (None, None) => true,
        };
        if !is_whole {
            return SecurityListStep::Nothing;
        }
        let rows = self.rows.take().unwrap_or_default();
        self.listed = Some(rows.into_iter().map(|row| (row.symbol.clone(), row)).collect());
        SecurityListStep::Changed
    }

    /// SecurityTradingStatus (326); codes that say nothing of orders change nothing.
    fn on_status(&mut self, message: &FixMessage<'_>) -> SecurityListStep {
        let status = match message.text(326) {
            Some("2" | "18" | "20" | "21") => ListingStatus::Halted,
            Some("3" | "17") => ListingStatus::Trading,
            Some("19") => ListingStatus::Unlisted,
            _ => return SecurityListStep::Nothing,
        };
        let listed = self.listed.as_mut().zip(message.text(SYMBOL)).and_then(|(all, symbol)| all.get_mut(symbol));
        match listed {
            Some(security) if security.listing.status != status => {
                security.listing.status = status;
                SecurityListStep::Changed
            }
            _ => SecurityListStep::Nothing,
        }
    }
}

fn rows_of(message: &FixMessage<'_>, rules: &SecurityListRules) -> Vec<SecurityListRow> {
    let mut groups: Vec<Vec<(Tag, &str)>> = Vec::new();
    for field in message.fields().skip_while(|field| field.tag != NO_RELATED_SYM).skip(1) {
        if field.tag == SYMBOL {
            groups.push(Vec::new());
        }
        if let (Some(group), Ok(text)) = (groups.last_mut(), std::str::from_utf8(field.value)) {
            group.push((field.tag, text));
        }
    }
    groups.iter().filter_map(|group| row(group, rules)).collect()
}

fn row(group: &[(Tag, &str)], rules: &SecurityListRules) -> Option<SecurityListRow> {
    let text = |tag: Tag| group.iter().find(|(known, _)| *known == tag).map(|(_, text)| *text);
    let number = |tag: Tag| text(tag).and_then(|text| Decimal::from_str_exact(text).ok()).filter(|n| !n.is_zero());
    let (symbol, quote) = (text(SYMBOL)?, text(15));
    let listing = VenueListing {
        tick: number(rules.tick_tag).map(Price),
        lot: number(rules.lot_tag).map(Quantity),
        quantity_min: number(rules.min_quantity_tag).map(Quantity),
        quantity_max: number(rules.max_quantity_tag).map(Quantity),
        ..VenueListing::new(ListingStatus::Trading)
    };
    let described = text(107).and_then(|pair| pair.split_once('/')).map(|(base, _)| base);
    let base = described.or_else(|| symbol.strip_suffix(quote?)).filter(|base| !base.is_empty());
    Some(SecurityListRow { symbol: symbol.into(), base: base.map(Text::from), quote: quote.map(Text::from), listing })
}

/// A list, a status, or the refusal of a question for them.
pub(crate) fn is_about_securities(message: &FixMessage<'_>) -> bool {
    match message.msg_type() {
        b"y" | b"f" => true,
        b"3" | b"j" => matches!(message.get(372), Some(b"x" | b"e")),
        _ => false,
    }
}
