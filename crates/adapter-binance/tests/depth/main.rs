//! The depth book: the venue's rules one by one, and a venue whose differences get lost.
#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod rules;
mod lossy_venue;
mod seeded_gaps;
