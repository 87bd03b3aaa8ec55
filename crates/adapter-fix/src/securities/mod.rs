//! What a venue lists.

pub(crate) mod security_list;
pub(crate) mod venue_securities;
pub(crate) mod symbol_question;
