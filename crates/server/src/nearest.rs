//! The right word for a misspelt one, as the bodies of requests have it too.

pub use wire::nearest::{hint, nearest};
