//! For whoever watches the broker from outside.

use std::sync::{Arc, Weak};

use crate::house::House;
use crate::numbers::Numbers;

/// Looks at a broker without keeping it alive.
#[derive(Clone)]
pub struct Watch(Weak<House>);

impl Watch {
    pub(crate) fn new(house: &Arc<House>) -> Self {
        Self(Arc::downgrade(house))
    }

    /// For how long the oldest event waits that is not published. It waits for nobody, also where the broker stands still.
    pub fn oldest_event(&self) -> Option<std::time::Duration> {
        self.0.upgrade().map(|house| house.oldest_event())
    }

    /// None where the broker is gone.
    pub fn numbers(&self) -> Option<Numbers> {
        self.0.upgrade().map(|house| house.numbers())
    }
}
