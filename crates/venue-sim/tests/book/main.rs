//! Order book: scenarios, and a comparison with a slow and plain model.

mod agreement;
mod auctions;
mod model;
mod stories;
mod transcript;
