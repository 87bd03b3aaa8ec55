//! The disk, as a process and a venue find it after its end.

mod process_end;
mod venue_ledger;
