//! The newest reference data. Readers take a shared picture and never stand in the engine's way.

use std::sync::{Arc, PoisonError, RwLock};

use domain::ReferenceData;

#[derive(Clone, Default)]
pub struct Catalogue(Arc<RwLock<Arc<ReferenceData>>>);

impl Catalogue {
    pub fn now(&self) -> Arc<ReferenceData> {
        // Only whole pictures are ever stored.
        self.0.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn replace(&self, data: Arc<ReferenceData>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = data;
    }
}
