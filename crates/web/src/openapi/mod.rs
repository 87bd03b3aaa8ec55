//! OpenAPI 3.1 document, from the endpoint table, the table of codes and the schemas of `wire`. Decision 0006: no
//! derive macros; tests validate it.

pub(crate) mod operations;

mod parameters;

mod responses;

use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::endpoints::{ENDPOINTS, Endpoint, RequiredRole};
use operations::{Operation, TAGS, operation};

/// The document as sent; it does not change while the server runs.
pub(crate) fn text() -> &'static [u8] {
    static TEXT: OnceLock<Vec<u8>> = OnceLock::new();
    TEXT.get_or_init(|| wire::json::encode(&document()))
}

fn document() -> Value {
    json!({
        "openapi": "3.1.1",
        "info": {
            "title": "Rialto",
            "version": env!("CARGO_PKG_VERSION"),
            "summary": "The REST interface of an open trading platform",
            "description": ABOUT,
            "license": { "name": "Apache License 2.0", "identifier": "Apache-2.0" },
        },
        "servers": [{ "url": "/", "description": "this server" }],
        "tags": TAGS.iter().map(|(name, says)| json!({ "name": name, "description": says })).collect::<Vec<_>>(),
        "paths": paths(),
        "components": {
            "schemas": wire::schema::schemas(),
            "responses": responses::problems(),
            "headers": responses::headers(),
            "securitySchemes": security_schemes(),
        },
    })
}

const ABOUT: &str = "\
Orders, positions, transactions, market data and everything around them.

**Amounts** are JSON numbers with their exact digits; on input a number or a text is taken. **Instants** are epoch \
milliseconds. Every key of an answer is always there, what is absent is `null`. Unknown keys are ignored in orders, \
transactions and subscriptions, and refused in every other body; unknown query parameters are refused.

**200 means durable**: checked, written, synced and handed on. What the venue says of an order comes on the topics.

**Lists** come as JSON, or as a table for `Accept: text/csv`. Live state carries the header `Rialto-Sequence`, which \
joins it with the topics. HEAD works wherever GET does.

**Failures** are `application/problem+json` (RFC 9457) with a stable `code`. Headers over the limit get a bare 431.

**Who may call**: out of the box a caller on the server's own machine needs no login and may do everything; once a \
user is configured, or a venue is real, calls need HTTP Basic, a bearer token, or the cookie of a session.";

fn paths() -> Map<String, Value> {
    let mut paths = Map::new();
    for row in ENDPOINTS {
        let methods = paths.entry(row.path).or_insert_with(|| json!({}));
        methods[row.method.to_ascii_lowercase()] = describe_endpoint(row);
    }
    paths
}

fn describe_endpoint(row: &Endpoint) -> Value {
    let operation = operation(row.handler);
    let mut described = json!({
        "operationId": operation_id(row),
        "tags": [operation.tag()],
        "summary": operation.summary,
        "description": description(row, operation),
        "security": security(row),
        "responses": responses::of(row, operation),
    });
    let parameters = parameters::of(row);
    if !parameters.is_empty() {
        described["parameters"] = parameters.into();
    }
    if let Some(body) = operation.body {
        described["requestBody"] = body.described();
    }
    described
}

/// The method and the words of the path: one path may have two spellings.
fn operation_id(row: &Endpoint) -> String {
    let words = row.path.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let mut id = row.method.to_ascii_lowercase();
    for word in words.filter(|word| *word != "rest") {
        id.push_str(&word[..1].to_ascii_uppercase());
        id.push_str(&word[1..]);
    }
    id
}

fn description(row: &Endpoint, operation: &Operation) -> String {
    let role = match row.role {
        RequiredRole::Anyone => "Everybody may call this.",
        RequiredRole::Viewer => "Needs the role viewer.",
        RequiredRole::Trader => "Needs the role trader.",
        RequiredRole::Admin => "Needs the role admin.",
    };
    if operation.more.is_empty() { role.to_owned() } else { format!("{}\n\n{role}", operation.more) }
}

/// Any one of them; the last is the anonymous caller, where it is allowed.
fn security(row: &Endpoint) -> Value {
    if row.role == RequiredRole::Anyone {
        return json!([]);
    }
    json!([{ "basic": [] }, { "bearer": [] }, { "session": [] }, {}])
}

fn security_schemes() -> Value {
    json!({
        "basic": { "type": "http", "scheme": "basic", "description": "user and password" },
        "bearer": { "type": "http", "scheme": "bearer", "description": "the token of a program" },
        "session": {
            "type": "apiKey",
            "in": "cookie",
            "name": crate::middleware::credentials::cookie_name(false),
            "description": "what `POST /rest/login` sets; over HTTPS its name begins with `__Host-`",
        },
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_row_has_an_operation_with_an_id_of_its_own() {
        let ids: BTreeSet<_> = ENDPOINTS.iter().map(operation_id).collect();
        assert_eq!(ids.len(), ENDPOINTS.len());
        let document = document();
        for row in ENDPOINTS {
            let operation = &document["paths"][row.path][row.method.to_ascii_lowercase()];
            assert!(operation["summary"].is_string() && operation["responses"]["200"].is_object(), "{row:?}");
        }
    }

    #[test]
    fn an_operation_is_described_once_and_belongs_to_a_row() {
        let reply: Vec<_> = operations::OPERATIONS.iter().map(|operation| operation.handler).collect();
        let rows: BTreeSet<_> = ENDPOINTS.iter().map(|row| row.handler).collect();
        assert_eq!(reply.iter().copied().collect::<BTreeSet<_>>(), rows);
        assert_eq!(reply.len(), rows.len());
    }

    fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
        match value {
            Value::Object(fields) => {
                found.extend(fields.get("$ref").and_then(Value::as_str));
                fields.values().for_each(|value| references(value, found));
            }
            Value::Array(items) => items.iter().for_each(|value| references(value, found)),
            _ => {}
        }
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        let lost: Vec<_> = found.iter().filter(|at| document.pointer(&at[1..]).is_none()).collect();
        assert!(found.len() > 50 && lost.is_empty(), "{lost:?}");
    }

    #[test]
    fn every_schema_is_used() {
        let document = document();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        let schemas = document["components"]["schemas"].as_object().unwrap();
        let used = |name: &str| found.contains(format!("#/components/schemas/{name}").as_str());
        assert_eq!(schemas.keys().filter(|name| !used(name)).collect::<Vec<_>>(), Vec::<&String>::new());
    }

    /// `wire` does not depend on `access`, so it repeats the limits.
    #[test]
    fn described_limits_of_users_and_tokens_are_those_that_are_checked() {
        let schemas = wire::schema::schemas();
        let at =
            |path: &str| schemas[path.split('/').next().unwrap()].pointer(&path[path.find('/').unwrap()..]).cloned();
        let days = at("TokenBody/properties/days/anyOf/0/maximum");
        let password = at("UserBody/properties/password/maxLength");
        let shortest = at("UserBody/properties/password/minLength");
        assert_eq!(days, Some(json!(access::TOKEN_DAYS_MAX)));
        assert_eq!(password, Some(json!(access::PASSWORD_BYTES_MAX)));
        assert_eq!(shortest, Some(json!(access::PASSWORD_LENGTH_MIN)));
    }

    /// What OpenAPI 3.1 requires of each part that we use.
    #[test]
    fn the_document_has_the_parts_that_it_must() {
        let document = document();
        assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
        assert!(document["info"]["title"].is_string() && document["info"]["version"].is_string());
        let tags: Vec<_> = TAGS.iter().map(|(name, _)| *name).collect();
        for row in ENDPOINTS {
            let operation = &document["paths"][row.path][row.method.to_ascii_lowercase()];
            assert!(tags.contains(&operation["tags"][0].as_str().unwrap()), "{row:?}");
            check_parameters(row, operation);
            for (status, response) in operation["responses"].as_object().unwrap() {
                let is_told = response["description"].is_string() || response["$ref"].is_string();
                assert!(is_told && status.parse::<u16>().is_ok(), "{row:?}: {status}");
            }
        }
    }

    fn check_parameters(row: &Endpoint, operation: &Value) {
        let reply = operation["parameters"].as_array().cloned().unwrap_or_default();
        let named = |place: &str| -> Vec<String> {
            let there = reply.iter().filter(|parameter| parameter["in"] == place);
            there.map(|parameter| parameter["name"].as_str().unwrap().to_owned()).collect()
        };
        let in_path: Vec<_> = row.path.split('{').skip(1).map(|rest| rest.split('}').next().unwrap()).collect();
        assert_eq!((named("path"), named("query")), (owned(&in_path), owned(row.parameters)), "{row:?}");
        assert!(reply.iter().all(|parameter| parameter["schema"].is_object() && parameter["description"].is_string()));
        assert!(
            reply.iter().filter(|parameter| parameter["in"] == "path").all(|parameter| parameter["required"] == true)
        );
    }

    fn owned(names: &[&str]) -> Vec<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }
}
