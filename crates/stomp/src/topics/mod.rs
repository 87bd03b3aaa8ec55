//! Topics: subscribers by pattern, last values.

mod book;
mod names;
mod pace;
mod tree;

pub use book::{Book, TOPICS_MAX, TooManyTopics, Topic, TopicId};
pub use pace::{Pace, PaceMeter};
pub use tree::{ROUTES_MAX, TopicTree};
