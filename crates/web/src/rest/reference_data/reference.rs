//! Reference data: import from files, which applies only differences, and cached lists with ETag.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{Extension, FromRequestParts, State};
use axum::http::request::Parts;
use axum::response::Response;
use bus::operations::ReferenceError;
use domain::ReferenceData;
use wire::operations::parse_import;
use wire::{ImportedVO, json};

use crate::app_state::AppState;
use crate::extract::JsonBody;
use crate::lists::list_format::{IfNoneMatch, ListFormat};
use crate::middleware::caller::ConnectionInfo;
use crate::openapi::operations;
use crate::problem::Problem;
use crate::response;

/// Errors of the files that a problem lists; more are counted.
const FAULTS_SHOWN_MAX: usize = 20;

/// The folder of the configuration.
pub(crate) async fn clear_caches(State(state): State<AppState>) -> Result<Response, Problem> {
    import_files(&state, None).await?;
    Ok(response::empty())
}

/// A folder on the server's own machine, so only local callers may name one.
pub(crate) async fn import(
    State(state): State<AppState>,
    reached: Option<Extension<ConnectionInfo>>,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    if !reached.is_some_and(|Extension(reached)| reached.is_local()) {
        return Err(Problem::new("not-local", "only a caller on the server's own machine may name a folder of it"));
    }
    let folder = parse_import(&body)?;
    let changes = import_files(&state, Some(folder.into())).await?;
    Ok(response::output(json::encode(&ImportedVO { changes })))
}

async fn import_files(state: &AppState, folder: Option<PathBuf>) -> Result<usize, Problem> {
    let admin = state.services().admin.clone();
    state.blocking(move || admin.load_reference(folder.as_deref())).await?.map_err(import_problem)
}

fn import_problem(trouble: ReferenceError) -> Problem {
    match trouble {
        ReferenceError::Files(faults) => Problem::new("bad-reference-data", faults_text(&faults)),
        ReferenceError::Refused(refusal) => refusal.into(),
        ReferenceError::Unanswered => {
            Problem::new("outcome-unknown", "the engine gave no answer, so some of the changes may be in: read again")
        }
    }
}

fn faults_text(faults: &[String]) -> String {
    let mut text = faults[..faults.len().min(FAULTS_SHOWN_MAX)].join("; ");
    if let Some(more) = faults.len().checked_sub(FAULTS_SHOWN_MAX).filter(|more| *more > 0) {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

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
                ListFormat::Json => json::list(items, write).map(Bytes::from).collect(),
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
