//! Methods of listen keys: make, extend and close one.

use serde_json::{Value, json};

use super::super::ApiCall;
use super::listen_keys::ListenKeys;
use crate::binance::api::error::ApiError;
use crate::keys;
use crate::sequencer::now_micros;

impl ApiCall<'_> {
    fn listen_keys(&self) -> Result<&ListenKeys, ApiError> {
        let absent = || ApiError::new(404, -1020, "This operation is not supported.");
        self.state.listen_keys.as_deref().ok_or_else(absent)
    }

    pub(crate) fn start_listen_key(&self) -> Result<Value, ApiError> {
        let failed = |_| ApiError::new(503, -1001, "Internal error; unable to process your request. Please try again.");
        let new = keys::random_text().map_err(failed)?;
        let name = self.listen_keys()?.start(self.account, new, now_micros());
        Ok(json!({ "listenKey": name }))
    }

    pub(crate) fn keep_listen_key(&self) -> Result<Value, ApiError> {
        self.listen_keys()?.keep(self.params.required("listenKey")?, self.account, now_micros())?;
        Ok(json!({}))
    }

    pub(crate) fn close_listen_key(&self) -> Result<Value, ApiError> {
        self.listen_keys()?.close(self.params.required("listenKey")?, self.account, now_micros())?;
        Ok(json!({}))
    }
}
