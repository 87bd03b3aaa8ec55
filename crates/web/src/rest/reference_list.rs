//! Cached lists of reference data, with ETag.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;
use domain::ReferenceData;

use crate::app_state::AppState;
use crate::list_format::{IfNoneMatch, ListFormat};
use crate::openapi::operations;
use crate::response;

/// The requested format of a list, and the client's tags.
pub(crate) struct ListRequest {
    form: ListFormat,
    known: IfNoneMatch,
}

impl ListRequest {
    /// The list with this name in the cache; `write` appends one item as JSON.
    pub(crate) fn respond<K, T>(
        &self,
        state: &AppState,
        name: &'static str,
        table: fn(&ReferenceData) -> &BTreeMap<K, Arc<T>>,
        write: impl Fn(&Arc<T>, &mut Vec<u8>),
    ) -> Response {
        let copy = state.list_cache().get_or_encode(name, self.form, state.reference(), |reference| {
            let items: Vec<_> = table(reference).values().cloned().collect();
            match self.form {
                ListFormat::Json => wire::json::list(items, write).map(Bytes::from).collect(),
                ListFormat::Csv(handler) => {
                    let columns = operations::columns(handler);
                    wire::csv::table(items, &columns, write).map(Bytes::from).collect()
                }
            }
        });
        if copy.etag.to_str().is_ok_and(|tag| self.known.matches(tag)) {
            return response::not_modified(&copy);
        }
        response::cached_list(self.form, copy)
    }
}

impl FromRequestParts<AppState> for ListRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        let form = ListFormat::from_request_parts(parts, state).await?;
        Ok(Self { form, known: IfNoneMatch::from_request_parts(parts, state).await? })
    }
}
