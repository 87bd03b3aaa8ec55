//! Reference data cache: readers get a shared copy and never block the engine.

use std::sync::{Arc, PoisonError, RwLock};

use domain::ReferenceData;

#[derive(Clone, Default)]
pub struct Catalogue(Arc<RwLock<Arc<ReferenceData>>>);

impl Catalogue {
    pub fn current(&self) -> Arc<ReferenceData> {
        // Only complete copies are stored.
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn replace(&self, data: Arc<ReferenceData>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = data;
    }
}
