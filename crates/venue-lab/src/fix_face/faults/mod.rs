//! What the faults do to FIX sessions: to their bytes, their reports, and what they ask for.

pub(super) mod fault_stream;
pub(super) mod report_faults;
mod order_faults;
