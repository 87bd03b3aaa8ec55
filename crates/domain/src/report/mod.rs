//! Venue reports, as an adapter delivers them.

mod reconciliation;
mod cancel_kind;
mod capabilities;
mod external;
mod kinds;
mod orders;
mod replace_kind;
mod session;
mod statements;
mod venue_listings;

pub use cancel_kind::CancelKind;
pub use capabilities::{AdapterCapabilities, OfferedOrderType, RefusesRepeatedIds, RequestTiming};
pub use external::{ExternalFill, ExternalOrder};
pub use kinds::{Report, ReportKind};
pub use orders::{CancelReplaceReport, HalfOutcome, VenueFill, VenueOrder, VenueOrderState};
pub use reconciliation::{
    FilledTotal, FillsPage, FillsScope, InquiryAnswer, InquiryResult, ListingCapabilities, ListingScope,
    OpenOrdersPage, VenueSnapshot,
};
pub use replace_kind::ReplaceKind;
pub use session::{LineKind, LineState, OpenFor, SessionState};
pub use statements::{VenueBalance, VenueEntry, VenuePosition, VenueStatement};
pub use venue_listings::{ListingRefusal, ListingStatus, VenueListing};
