//! The list of a venue's securities, their trading status, and what was told of both.

use adapters::ToldListings;
use domain::Timestamp;
use domain::report::VenueListing;
use fix::FixMessage;

use crate::dialect::Dialect;
use crate::securities::security_list::{SecurityList, SecurityListStep};
use crate::securities::security_status::SecurityStatuses;

pub(crate) struct VenueSecurities {
    /// Absent where the dialect has none.
    pub(crate) list: Option<SecurityList>,
    /// Absent where the dialect does not ask for it.
    pub(crate) statuses: Option<SecurityStatuses>,
    pub(crate) told: ToldListings,
    /// Both are to be asked for.
    pub(crate) is_due: bool,
}

impl VenueSecurities {
    /// Nothing where the dialect has neither, or has them on a session for market data that is not there.
    pub(crate) fn new(dialect: &Dialect, has_price_session: bool, now: Timestamp) -> Option<Self> {
        if dialect.market_data.as_ref().is_some_and(|rules| rules.own_session) && !has_price_session {
            return None;
        }
        let begun = now.seconds_since(Timestamp(0));
        let list = dialect.security_list.clone().map(|rules| SecurityList::new(rules, begun));
        let statuses = dialect.security_status.clone().map(|rules| SecurityStatuses::new(rules, begun));
        let has_any = list.is_some() || statuses.is_some();
        has_any.then(|| Self { list, statuses, told: ToldListings::default(), is_due: false })
    }

    /// Nothing while the list is awaited: a status alone says nothing of ticks and lots.
    pub(crate) fn listing(&self, symbol: &str) -> Option<VenueListing> {
        if self.list.as_ref().is_some_and(SecurityList::is_awaited) {
            return None;
        }
        let listed = self.list.as_ref().and_then(|list| list.listing(symbol));
        match &self.statuses {
            Some(statuses) => statuses.applied(symbol, listed),
            None => listed,
        }
    }

    pub(crate) fn on_message(&mut self, message: &FixMessage<'_>) -> SecurityListStep {
        let is_refusal = matches!(message.msg_type(), b"3" | b"j") && message.get(372) == Some(b"e");
        match &mut self.statuses {
            Some(_) if is_refusal => {
                SecurityListStep::Refused(format!("no status: {}", message.text(58).unwrap_or("rejected")))
            }
            Some(statuses) if message.msg_type() == b"f" => match statuses.on_status(message) {
                true => SecurityListStep::Changed,
                false => SecurityListStep::Nothing,
            },
            _ => self.list.as_mut().map_or(SecurityListStep::Nothing, |list| list.on_message(message)),
        }
    }
}
