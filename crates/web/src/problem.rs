//! Problem responses (RFC 9457). The status follows from the code, by the table in [`codes`].

use std::sync::Arc;

use access::{Access, AccessDenied, Actor};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use domain::{IntId, Order, Refusal};
use wire::{BadBody, FieldError, ProblemVO};

use crate::codes;
use crate::response::location;

/// Retry-After of temporary problems.
const RETRY_AFTER_SECONDS: u8 = 1;

/// The problem code of a response.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ProblemCode(pub(crate) &'static str);

#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    code: &'static str,
    detail: String,
    errors: Vec<FieldError>,
    /// The order that a duplicate refers to.
    existing_order: Option<(IntId, Option<Arc<Order>>)>,
}

impl Problem {
    pub(crate) fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { status: codes::status_of(code), code, detail: detail.into(), errors: vec![], existing_order: None }
    }

    pub(crate) fn code(&self) -> &'static str {
        self.code
    }

    /// Audits the refusal.
    pub(crate) async fn record(&self, access: &Access, actor: &Actor) {
        access.audit_refusal(actor, self.code, &self.detail).await;
    }

    /// The engine's answer has the wrong type: an internal error.
    pub(crate) fn unexpected_answer() -> Self {
        Self::new("internal", "the engine's answer does not fit the question")
    }

    /// The unknown name is in the path or in a parameter, so the resource is missing.
    pub(crate) fn into_not_found(mut self) -> Self {
        if self.code.starts_with("unknown-") && self.code != wire::fields::UNKNOWN_FIELD {
            self.status = StatusCode::NOT_FOUND;
        }
        self
    }

    /// A retry helps where something is overloaded or down, but not where the outcome is unknown or access is denied.
    fn is_retryable(&self) -> bool {
        let for_now = [StatusCode::TOO_MANY_REQUESTS, StatusCode::SERVICE_UNAVAILABLE];
        for_now.contains(&self.status) && !["outcome-unknown", "door-closed"].contains(&self.code)
    }
}

impl From<AccessDenied> for Problem {
    fn from(denied: AccessDenied) -> Self {
        Self::new(denied.code(), denied.to_string())
    }
}

impl From<Refusal> for Problem {
    fn from(refusal: Refusal) -> Self {
        let (code, reason) = (refusal.code(), refusal.to_string());
        let field = refusal.field().map(|field| FieldError::new(field, code, reason.clone()));
        let mut problem = Self::new(code, reason);
        problem.errors.extend(field);
        if let Refusal::DuplicateOrder(known) = refusal {
            problem.existing_order = Some((known.int_id, known.order));
        }
        problem
    }
}

impl From<BadBody> for Problem {
    fn from(bad: BadBody) -> Self {
        match bad {
            BadBody::NotJson(reason) => Self::new("malformed-json", reason),
            BadBody::Fields(errors) => errors.into(),
        }
    }
}

impl From<Vec<FieldError>> for Problem {
    /// Unreadable fields come first, because other errors depend on them.
    fn from(errors: Vec<FieldError>) -> Self {
        let leading = errors.iter().find(|error| error.is_malformed()).or(errors.first());
        let code = leading.map_or(wire::fields::MALFORMED_FIELD, |error| error.code);
        let reasons: Vec<_> = errors.iter().map(|error| format!("{} {}", error.field, error.reason)).collect();
        Self { errors, ..Self::new(code, reasons.join("; ")) }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let title = self.status.canonical_reason().unwrap_or("Error");
        let order = self.existing_order.as_ref().and_then(|(_, order)| order.as_deref());
        let body = ProblemVO::new(self.status.as_u16(), self.code, title, &self.detail);
        let body = wire::json::encode(&body.with_errors(&self.errors).with_order(order));
        let media_type = [(header::CONTENT_TYPE, wire::problem::MEDIA_TYPE)];
        let mut response = (self.status, media_type, body).into_response();
        response.extensions_mut().insert(ProblemCode(self.code));
        if self.is_retryable() {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(u16::from(RETRY_AFTER_SECONDS)));
        }
        if let Some((int_id, _)) = &self.existing_order {
            response.headers_mut().insert(header::LOCATION, location(int_id));
        }
        response
    }
}
