//! Venue reports, as an adapter delivers them.

mod capabilities;
mod fills;
mod inquiries;
mod kinds;
mod orders;
mod session;
mod snapshots;

pub use capabilities::{AdapterCapabilities, RefusesRepeatedIds, RequestTiming};
pub use fills::VenueFill;
pub use inquiries::{InquiryAnswer, InquiryResult};
pub use kinds::{Report, ReportKind};
pub use orders::{VenueOrder, VenueOrderState};
pub use session::SessionState;
pub use snapshots::VenueSnapshot;
