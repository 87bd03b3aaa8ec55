//! Topics: who listens to which, and what was said last.

/// What was said last on each topic, and how often something is said.
mod book;
/// Segments of patterns, each kept once.
mod names;
/// How often something happens on a topic.
mod pace;
/// Who listens to what.
mod tree;

pub use book::{Book, TOPICS_MAX, TooManyTopics, Topic, TopicId};
pub use pace::{Pace, PaceMeter};
pub use tree::{ROUTES_MAX, TopicTree};
