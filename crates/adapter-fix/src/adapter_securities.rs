//! What the venue lists and whether it trades: asked for after each log-on, over the session that brings prices.

use adapters::{ReportSink, SendOutcome};
use domain::Timestamp;
use fix::{FixMessage, OutgoingMessage};

use crate::adapter::FixAdapter;
use crate::securities::security_list::{SecurityList, SecurityListStep};
use crate::sessions::side_session::SideSession;

impl FixAdapter {
    pub(crate) fn ask_for_securities(&mut self, at: Timestamp) {
        let has_line = self.prices.as_ref().and_then(|prices| prices.own.as_ref()).is_none_or(SideSession::is_up);
        let Some(securities) = self.securities.as_mut().filter(|securities| securities.is_due && has_line) else {
            return;
        };
        securities.is_due = false;
        let Some(request) = securities.list.as_mut().map(SecurityList::request) else {
            return self.ask_for_statuses(at);
        };
        if let Err(refusal) = self.check.check(&request) {
            tracing::error!(venue = %self.setup.venue, %refusal, "the security list is not asked for");
        } else if self.send_price_request(at, request) != SendOutcome::Sent {
            if let Some(securities) = &mut self.securities {
                securities.is_due = true;
            }
            return;
        }
        self.ask_for_statuses(at);
    }

    /// Of every security of the exchange; what the venue's rate does not allow yet waits with the requests for prices.
    fn ask_for_statuses(&mut self, at: Timestamp) {
        let reference = self.setup.catalogue.current();
        let Some(statuses) = self.securities.as_mut().and_then(|securities| securities.statuses.as_mut()) else {
            return;
        };
        statuses.clear();
        let of_venue = reference.securities.values().filter(|security| security.exchange == self.setup.exchange);
        let requests: Vec<OutgoingMessage> =
            of_venue.map(|security| statuses.request(security.symbol_at(&self.setup.venue))).collect();
        self.ask_for_prices(at, requests);
    }

    pub(crate) fn on_security_message(&mut self, message: &FixMessage<'_>, sink: &mut dyn ReportSink) {
        let Some(securities) = &mut self.securities else { return };
        match securities.on_message(message) {
            SecurityListStep::Nothing => {}
            SecurityListStep::Refused(reason) => {
                tracing::warn!(venue = %self.setup.venue, %reason, "the venue tells nothing of its securities");
            }
            SecurityListStep::Changed => {
                let reference = self.setup.catalogue.current();
                let of_venue =
                    reference.securities.values().filter(|security| security.exchange == self.setup.exchange);
                let now = of_venue.filter_map(|security| {
                    Some((security.id, securities.listing(security.symbol_at(&self.setup.venue))?))
                });
                let now: Vec<_> = now.collect();
                for said in securities.told.changes(now) {
                    sink.on_report(None, said);
                }
            }
        }
    }
}
