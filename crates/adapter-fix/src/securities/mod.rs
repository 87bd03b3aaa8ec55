//! What a venue lists, and whether it trades.

pub(crate) mod security_list;
pub(crate) mod security_status;
pub(crate) mod venue_securities;
pub(crate) mod symbol_question;
