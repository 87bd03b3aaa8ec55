//! Topics: subscribers by pattern, last values.

mod last_value_table;
mod segments;
mod tree;

pub use last_value_table::{
    ActivityMeter, LastValueTable, TOPICS_MAX, TooManyTopics, TopicActivity, TopicEntry, TopicId,
};
pub use tree::{ROUTES_MAX, TopicTree};
