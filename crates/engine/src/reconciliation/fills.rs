//! The venue's fills by cursor against ours.

use domain::report::FillsPage;
use domain::{AdapterName, PlantedBug};

use super::listings::FillsListing;
use super::schedule::LISTING_RETRY_SECONDS;
use crate::outbox::{Moment, Outbox};
use crate::trading::Trading;

/// The pause before the next page of a long list, so that orders do not wait behind it.
pub(crate) const FILLS_PAGE_PAUSE_MILLIS: i64 = 100;

impl Trading {
    /// A fill has the venue's id, so it is booked whenever it is listed, and only once.
    pub(crate) fn on_fills(&mut self, moment: Moment, adapter: &AdapterName, page: &FillsPage, out: &mut Outbox) {
        self.halt_for_unknown(moment, adapter, page.fills.iter().map(|fill| fill.order), out);
        let is_skipped = PlantedBug::SkipReconciledFills.is_planted();
        for fill in page.fills.iter().filter(|_| !is_skipped) {
            if self.owns_order(adapter, fill.order, out) {
                self.on_listed_fill(moment, adapter, fill, out);
            }
        }
        let pause_seconds = i64::from(self.settings.reconciliation.fills_seconds);
        let step = self.listings.change(adapter, |venue| match venue.fills.get_mut(&page.security) {
            Some(listing) if listing.ask_at.is_some() => advance(moment, listing, page, pause_seconds),
            _ => CursorStep::Ignored,
        });
        match step {
            Some(CursorStep::Stuck) => {
                let text = format!("{adapter}: fills: more are announced after {}, and none came", asked(page));
                out.warn("listing-failed", text);
            }
            Some(CursorStep::Cut) => {
                let text = format!(
                    "{adapter}: fills after the last cursor are no longer listed; the list begins with {}",
                    first(page)
                );
                out.warn("fills-not-listed", text);
            }
            Some(CursorStep::Advanced | CursorStep::Ignored) | None => {}
        }
    }
}

fn asked(page: &FillsPage) -> &str {
    page.from.as_deref().unwrap_or("the beginning")
}

fn first(page: &FillsPage) -> &str {
    page.fills.first().map_or("nothing", |fill| fill.exec_id.as_ref())
}

enum CursorStep {
    Advanced,
    /// The venue begins later than it was asked to: what lies between is no longer listed.
    Cut,
    /// More is announced, but the next page would be the same.
    Stuck,
    /// The answer to an earlier question.
    Ignored,
}

fn advance(moment: Moment, listing: &mut FillsListing, page: &FillsPage, pause_seconds: i64) -> CursorStep {
    let is_cut = page.from.is_none() && listing.cursor.is_some();
    if page.from != listing.cursor && !is_cut {
        return CursorStep::Ignored;
    }
    if !page.last && page.next_cursor == listing.cursor {
        listing.ask_at = Some(moment.at.plus_seconds(LISTING_RETRY_SECONDS));
        return CursorStep::Stuck;
    }
    listing.cursor = page.next_cursor.clone().or(listing.cursor.take());
    if page.last {
        listing.done_as_of = Some(page.as_of);
        listing.ask_at = Some(moment.at.plus_seconds(pause_seconds));
    } else {
        listing.ask_at = Some(moment.at.plus_millis(FILLS_PAGE_PAUSE_MILLIS));
    }
    if is_cut { CursorStep::Cut } else { CursorStep::Advanced }
}
