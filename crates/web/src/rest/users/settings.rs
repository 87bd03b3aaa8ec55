//! User settings: one JSON document per user, not interpreted.

use access::UserStoreError;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use wire::fields::Fields;

use crate::app_state::AppState;
use crate::extract::{AuthenticatedClient, JsonBody};
use crate::problem::Problem;
use crate::response;

/// A longer document is rejected.
pub(crate) const SETTINGS_BYTES_MAX: usize = 256 << 10;

/// Settings of a user that has stored nothing yet.
const EMPTY_DOCUMENT: &str = "{}";

pub(crate) async fn read(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
) -> Result<Response, Problem> {
    let owner = caller.identity.name;
    let kept = state.with_register(move |register, _| Ok(register.settings(owner.as_deref())?)).await?;
    let (document, revision) = kept.map_or((EMPTY_DOCUMENT.into(), 0), |kept| (kept.document, kept.revision));
    Ok(with_etag(response::value(document.into_bytes()), revision))
}

pub(crate) async fn write(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    headers: HeaderMap,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let document = document_of(&body)?;
    let (owner, seen) = (caller.identity.name, if_match_revision(&headers));
    // A conflict is a response and not a problem, because it carries the tag of the stored revision.
    let kept =
        state.with_register(move |register, at| match register.save_settings(owner.as_deref(), &document, seen, at) {
            Err(UserStoreError::SettingsChanged { revision }) => Ok(Err(revision)),
            kept => kept.map(Ok),
        });
    Ok(match kept.await? {
        Ok(revision) => with_etag(response::empty(), revision),
        Err(revision) => with_etag(revision_conflict(revision).into_response(), revision),
    })
}

fn document_of(body: &[u8]) -> Result<String, Problem> {
    if body.len() > SETTINGS_BYTES_MAX {
        let detail = format!("settings are longer than {SETTINGS_BYTES_MAX} bytes");
        return Err(Problem::new("settings-too-large", detail));
    }
    Fields::parse(body)?;
    String::from_utf8(body.to_vec()).map_err(|_| Problem::new("malformed-json", "the body is not UTF-8"))
}

/// The revision in `If-Match`; an invalid one never matches.
fn if_match_revision(headers: &HeaderMap) -> Option<u64> {
    let tag = headers.get(header::IF_MATCH)?.to_str().unwrap_or_default().trim();
    let bare = tag.trim_start_matches("W/").trim_matches('"');
    if bare == "*" { None } else { Some(bare.parse().unwrap_or(u64::MAX)) }
}

fn with_etag(mut response: Response, revision: u64) -> Response {
    let tag = HeaderValue::try_from(format!("\"{revision}\"")).expect("digits are ASCII");
    response.headers_mut().insert(header::ETAG, tag);
    response
}

fn revision_conflict(revision: u64) -> Problem {
    let detail = format!("other settings were kept meanwhile, as revision {revision}: read them first");
    Problem::new("settings-changed", detail)
}
