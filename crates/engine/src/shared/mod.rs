//! Collections whose copy shares what they hold. The copy for a snapshot is made while the engine's loop stands still, so what grows
//! with the number of orders lies in parts behind references: a copy takes one step for each part, and a change afterwards
//! copies the part that it changes. Where nothing was copied a change is made in place.

pub(crate) mod shared_list;
pub(crate) mod shared_map;
pub(crate) mod shared_set;
