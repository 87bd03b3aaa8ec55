//! Reference data cache: readers get a shared copy and never block the engine.

use std::sync::{Arc, PoisonError, RwLock};

use domain::ReferenceData;

/// The newest reference data, shared by the engine and the edges.
#[derive(Clone, Default)]
pub struct Catalogue(Arc<RwLock<Arc<ReferenceData>>>);

impl Catalogue {
    /// The newest reference data.
    pub fn current(&self) -> Arc<ReferenceData> {
        // Only complete copies are stored.
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// From now on this is the newest.
    pub fn replace(&self, data: Arc<ReferenceData>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = data;
    }
}
