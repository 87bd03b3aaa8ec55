//! Topics: subscribers by pattern, last values.

mod last_value_table;
mod segments;
mod activity;
mod tree;

pub use activity::{ActivityMeter, TopicActivity};
pub use last_value_table::{LastValueTable, TOPICS_MAX, TooManyTopics, TopicEntry, TopicId};
pub use tree::{ROUTES_MAX, TopicTree};
