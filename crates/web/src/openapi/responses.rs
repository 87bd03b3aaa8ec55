//! Responses, successful and failed. Failures follow from the row: each input can be invalid.

use std::collections::BTreeSet;

use axum::http::StatusCode;
use serde_json::{Map, Value, json};
use wire::schema::reference;

use super::operations::{Operation, ResponseKind};
use super::parameters::may_be_unknown;
use crate::codes::{CODES, Code};
use crate::endpoints::{Endpoint, RequiredRole};

/// Failures of any call: unknown host, long URL, rate limit, internal error, overload.
const ALWAYS: [u16; 6] = [400, 403, 414, 429, 500, 503];
/// A method that a path does not have is not an operation, so none has this response.
const OTHER_METHOD: u16 = 405;
/// Failures of a body.
const WITH_BODY: [u16; 3] = [408, 413, 415];

pub(super) fn of(row: &Endpoint, operation: &Operation) -> Map<String, Value> {
    let mut responses = Map::new();
    responses.insert("200".into(), success(row, operation));
    if matches!(operation.response, ResponseKind::TaggedList(_)) {
        let says = "The client has it already, as its `If-None-Match` says.";
        responses.insert("304".into(), json!({ "description": says, "headers": { "ETag": header("ETag") } }));
    }
    for status in failures(row, operation) {
        responses.insert(status.to_string(), json!({ "$ref": format!("#/components/responses/Problem{status}") }));
    }
    if matches!(operation.response, ResponseKind::Health) {
        responses.insert("503".into(), unhealthy());
    }
    responses
}

fn failures(row: &Endpoint, operation: &Operation) -> BTreeSet<u16> {
    let mut failures = BTreeSet::from(ALWAYS);
    failures.extend(operation.failures);
    if row.role > RequiredRole::Anyone {
        failures.insert(401);
    }
    if may_be_unknown(row) {
        failures.insert(404);
    }
    if names_journal(row) {
        failures.insert(410);
    }
    if operation.body.is_some() {
        failures.extend(WITH_BODY);
    }
    failures
}

fn names_journal(row: &Endpoint) -> bool {
    row.parameters.contains(&"journal")
}

fn success(row: &Endpoint, operation: &Operation) -> Value {
    let mut response =
        json!({ "description": response_description(operation.response), "headers": headers_of(row, operation) });
    if let Some(content) = content(operation.response) {
        response["content"] = content;
    }
    response
}

fn response_description(answer: ResponseKind) -> &'static str {
    match answer {
        ResponseKind::Nothing => "Done; the body is empty.",
        ResponseKind::RevisionTag => "Kept; the body is empty, and `ETag` has the new revision.",
        ResponseKind::Location => "Done; the body is empty, and `Location` says where it is found.",
        ResponseKind::Session => "The session has begun.",
        ResponseKind::NoSession => "There is no session any more.",
        ResponseKind::Text(says) | ResponseKind::TextList(says) => says,
        _ => "As asked.",
    }
}

fn content(answer: ResponseKind) -> Option<Value> {
    let json = |schema: Value| Some(json!({ "application/json": { "schema": schema } }));
    match answer {
        ResponseKind::Nothing | ResponseKind::RevisionTag | ResponseKind::Location | ResponseKind::NoSession => None,
        ResponseKind::List(name) | ResponseKind::TaggedList(name) | ResponseKind::Lines(name) => {
            Some(list(json!({ "type": "array", "items": reference(name) })))
        }
        ResponseKind::TextList(_) => Some(list(json!({ "type": "array", "items": { "type": "string" } }))),
        ResponseKind::One(name) | ResponseKind::Document(name) => json(reference(name)),
        ResponseKind::Health => json(reference("Health")),
        ResponseKind::Session => json(reference("IdentityVO")),
        ResponseKind::Text(_) => json(json!({ "type": "string" })),
        ResponseKind::Parameters => json(json!({ "type": "object", "additionalProperties": { "type": "string" } })),
        ResponseKind::Metrics => {
            let text = json!({ "schema": { "type": "string" } });
            Some(json!({ "application/openmetrics-text": text, "text/plain": text }))
        }
        ResponseKind::File("application/json") => json(json!({ "type": "object", "additionalProperties": true })),
        ResponseKind::File(media_type) => Some(json!({ media_type: { "schema": { "type": "string" } } })),
    }
}

/// Lists come in two forms.
fn list(schema: Value) -> Value {
    json!({ "application/json": { "schema": schema }, "text/csv": { "schema": { "type": "string" } } })
}

fn headers_of(row: &Endpoint, operation: &Operation) -> Value {
    let mut names = vec!["X-Request-Id"];
    names.extend(names_journal(row).then_some("Rialto-Journal"));
    names.extend(operation.is_live().then_some("Rialto-Sequence"));
    match operation.response {
        ResponseKind::Location => names.push("Location"),
        ResponseKind::TaggedList(_) | ResponseKind::Document(_) | ResponseKind::RevisionTag => names.push("ETag"),
        ResponseKind::Lines(_) => names.push("Rialto-After"),
        ResponseKind::Session | ResponseKind::NoSession => names.push("Set-Cookie"),
        _ => {}
    }
    names.into_iter().map(|name| (name.to_owned(), header(name))).collect::<Map<_, _>>().into()
}

fn header(name: &str) -> Value {
    json!({ "$ref": format!("#/components/headers/{name}") })
}

pub(super) fn headers() -> Value {
    let text = |says: &str| json!({ "description": says, "schema": { "type": "string" } });
    let number = |says: &str| json!({ "description": says, "schema": { "type": "integer", "minimum": 0 } });
    json!({
        "X-Request-Id": text("the number of the request: the client's own, or a new one"),
        "Rialto-Sequence": number("the picture is true up to this sequence; topics carry it too"),
        "Rialto-Journal": text("the journal that the answer is from; with `after`, `journal` names it"),
        "Rialto-After": number("`after` with this goes on where the answer ended"),
        "Location": text("where the order or the transaction is found"),
        "ETag": text("the tag of this copy, for `If-None-Match`, or the revision of settings, for `If-Match`"),
        "Set-Cookie": text("the cookie of the session, set or taken away"),
        "Retry-After": number("seconds after which another try may help"),
    })
}

/// A server that is not ready gives the reason in the same form; an overloaded one gives a problem.
fn unhealthy() -> Value {
    json!({
        "description": "Not ready: a check is not passed, or the server is too busy to tell.",
        "content": {
            "application/json": { "schema": reference("Health") },
            wire::problem::MEDIA_TYPE: { "schema": reference("Problem") },
        },
    })
}

/// The key under which the document lists the codes of a status, for programs.
const CODES_KEY: &str = "x-codes";

/// Every failure status of an operation, with its codes.
pub(super) fn problems() -> Map<String, Value> {
    let statuses: BTreeSet<_> = CODES.iter().map(|row| row.status).filter(|status| *status != OTHER_METHOD).collect();
    statuses.into_iter().map(|status| (format!("Problem{status}"), problem(status))).collect()
}

fn problem(status: u16) -> Value {
    let codes: Vec<_> = CODES.iter().filter(|row| may_be(row, status)).collect();
    let title = StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason()).unwrap_or("Error");
    let mut description = format!("{title}\n\n");
    for Code { code, meaning, .. } in &codes {
        description.push_str(&format!("- `{code}`: {meaning}\n"));
    }
    let names: Vec<_> = codes.iter().map(|row| row.code).collect();
    let content = json!({ "schema": reference("Problem"), "example": example(codes[0], title) });
    // The codes are no enumeration in the schema, so that a client of today can read later codes.
    let content = json!({ wire::problem::MEDIA_TYPE: content });
    let mut response = json!({ "description": description, "headers": {}, "content": content, CODES_KEY: names });
    response["headers"]["X-Request-Id"] = header("X-Request-Id");
    if [429, 503].contains(&status) {
        response["headers"]["Retry-After"] = header("Retry-After");
    }
    response
}

/// An unknown resource is 404 where it is in the path or in a parameter.
fn may_be(row: &Code, status: u16) -> bool {
    let is_of_a_path = row.code.starts_with("unknown-") && row.code != wire::fields::UNKNOWN_FIELD;
    row.status == status || status == 404 && is_of_a_path && row.status == 422
}

fn example(row: &Code, title: &str) -> Value {
    let problem = wire::ProblemVO::new(row.status, row.code, title, row.meaning);
    serde_json::to_value(problem).unwrap_or_default()
}
