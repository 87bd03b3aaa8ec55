//! What a client hears, told as stories on a floor with a real engine.

/// Client, engine and venue without sockets.
mod floor;
/// The scenarios of FIX 4.4's Appendix D, and those it is silent about.
mod matrix;
/// Every field of an order, right and wrong.
mod orders;
/// Whole messages.
mod messages;
