//! Venue reports, as an adapter delivers them.

mod capabilities;
mod entries;
mod external;
mod fills;
mod inquiries;
mod kinds;
mod listings;
mod orders;
mod session;
mod snapshots;
mod statements;
mod venue_listings;

pub use capabilities::{AdapterCapabilities, RefusesRepeatedIds, RequestTiming};
pub use entries::VenueEntry;
pub use external::{ExternalFill, ExternalOrder};
pub use fills::VenueFill;
pub use inquiries::{InquiryAnswer, InquiryResult};
pub use kinds::{Report, ReportKind};
pub use listings::{FillsPage, FillsScope, ListingCapabilities, ListingScope, OpenOrdersPage};
pub use orders::{VenueOrder, VenueOrderState};
pub use session::{LineKind, LineState, OpenFor, SessionState};
pub use snapshots::VenueSnapshot;
pub use statements::{VenueBalance, VenuePosition, VenueStatement};
pub use venue_listings::{ListingRefusal, ListingStatus, VenueListing};
