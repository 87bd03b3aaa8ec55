//! The order book, told in stories and held against a slow one that is obviously right.

/// The fast book and the slow one, command by command.
mod agreement;
/// Auctions.
mod auctions;
/// The slow book.
mod model;
/// Continuous trading.
mod stories;
/// Commands and results as text.
mod transcript;
