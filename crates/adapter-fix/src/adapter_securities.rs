//! What the venue lists: asked for after each log-on, over the session that brings prices.

use adapters::{ReportSink, SendOutcome};
use domain::Timestamp;
use fix::FixMessage;

use crate::adapter::FixAdapter;
use crate::securities::security_list::SecurityListStep;
use crate::sessions::side_session::SideSession;

impl FixAdapter {
    pub(crate) fn ask_for_securities(&mut self, at: Timestamp) {
        let has_line = self.prices.as_ref().and_then(|prices| prices.own.as_ref()).is_none_or(SideSession::is_up);
        let Some(securities) = self.securities.as_mut().filter(|securities| securities.is_due && has_line) else {
            return;
        };
        let request = securities.list.request();
        if let Err(refusal) = self.check.check(&request) {
            securities.is_due = false;
            return tracing::error!(venue = %self.setup.venue, %refusal, "the security list is not asked for");
        }
        let is_sent = self.send_price_request(at, request) == SendOutcome::Sent;
        if let Some(securities) = &mut self.securities {
            securities.is_due = !is_sent;
        }
    }

    pub(crate) fn on_security_message(&mut self, message: &FixMessage<'_>, sink: &mut dyn ReportSink) {
        let Some(securities) = &mut self.securities else { return };
        match securities.list.on_message(message) {
            SecurityListStep::Nothing => {}
            SecurityListStep::Refused(reason) => {
                tracing::warn!(venue = %self.setup.venue, %reason, "the venue gives no security list");
            }
            SecurityListStep::Changed => {
                let reference = self.setup.catalogue.current();
                let of_venue =
                    reference.securities.values().filter(|security| security.exchange == self.setup.exchange);
                let now = of_venue.filter_map(|security| {
                    Some((security.id, securities.list.listing(security.symbol_at(&self.setup.venue))?))
                });
                for said in securities.told.changes(now) {
                    sink.on_report(None, said);
                }
            }
        }
    }
}
