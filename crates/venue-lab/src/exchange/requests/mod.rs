//! What an account asks of an order that rests, and the checks before one is taken.

pub(crate) mod amend;
pub(crate) mod cancel;
pub(crate) mod checks;
pub(crate) mod replace;
