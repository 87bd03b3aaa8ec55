//! Whether the state of the engine is loaded. Until it is, a snapshot would be incomplete and what is loaded would look like news, so
//! connections wait for it.

use tokio::sync::watch;

pub(crate) struct StateLoading(watch::Sender<bool>);

impl Default for StateLoading {
    /// Nothing is loaded before the first start of the publisher.
    fn default() -> Self {
        Self(watch::Sender::new(true))
    }
}

impl StateLoading {
    /// From now on connections wait; until what is returned is dropped, also where the load is given up.
    pub(crate) fn begin(&self) -> LoadInProgress<'_> {
        self.0.send_replace(true);
        LoadInProgress(self)
    }

    pub(crate) async fn wait_until_loaded(&self) {
        // The sender is here, so it is not gone.
        drop(self.0.subscribe().wait_for(|is_loading| !is_loading).await);
    }
}

/// A load that has not ended.
pub(crate) struct LoadInProgress<'a>(&'a StateLoading);

impl Drop for LoadInProgress<'_> {
    fn drop(&mut self) {
        self.0.0.send_replace(false);
    }
}
