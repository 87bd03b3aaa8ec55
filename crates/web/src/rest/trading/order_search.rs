//! Search of orders and transactions in history: by words, ids, source, status and time.

use bus::history::{OrderSearch, SourceSearch, TextSearch, TransactionSearch};
use domain::order::OrdStatus;
use domain::{ReferenceData, Timestamp};

use crate::extract::QueryParameters;
use crate::problem::Problem;

/// Longest search text.
pub(crate) const SEARCH_TEXT_MAX: usize = 100;
/// What orders come from, as a client names it; of the FIX port one client may be named too.
/// Sources that orders are searched by at once.
const SOURCES_MAX: usize = 64;
const SOURCES: [&str; 5] = ["REST", "UI", "STRATEGY", "PLATFORM", "EXTERNAL"];
const FIX: &str = "FIX";

pub(crate) fn order_search(parameters: &QueryParameters, reference: &ReferenceData) -> Result<OrderSearch, Problem> {
    Ok(OrderSearch {
        filter: parameters.filter(reference)?,
        text: parameters.get("text").map(|text| text_search(text, reference)).transpose()?,
        statuses: parameters.comma_separated("status", status)?,
        sources: check_source_count(parameters.comma_separated("source", source)?)?,
        exclude_strategies: without_strategies(parameters)?,
        from: instant(parameters, "from")?,
        to: instant(parameters, "to")?,
    })
}

pub(crate) fn transaction_search(
    parameters: &QueryParameters,
    reference: &ReferenceData,
) -> Result<TransactionSearch, Problem> {
    let text = parameters.get("text").map(|text| text_search(text, reference)).transpose()?;
    Ok(TransactionSearch { filter: parameters.filter(reference)?, text })
}

/// History has no symbols, so the matching securities are looked up here.
fn text_search(text: &str, reference: &ReferenceData) -> Result<TextSearch, Problem> {
    let part = text.trim().to_lowercase();
    if part.is_empty() || text.chars().count() > SEARCH_TEXT_MAX {
        let expected = format!("a part of a name or a note, of 1 to {SEARCH_TEXT_MAX} characters");
        return Err(Problem::bad_parameter("text", &expected));
    }
    let named = reference.securities.values().filter(|security| security.symbol.to_lowercase().contains(&part));
    Ok(TextSearch { securities: named.map(|security| security.id).collect(), part })
}

fn status(wanted: &str) -> Result<OrdStatus, Problem> {
    OrdStatus::ALL.into_iter().find(|status| status.name() == wanted).ok_or_else(|| {
        Problem::bad_parameter(
            "status",
            &format!("one or several of {}", OrdStatus::ALL.map(OrdStatus::name).join(",")),
        )
    })
}

/// Each is a condition of its own, and SQLite has a limit.
fn check_source_count(sources: Vec<SourceSearch>) -> Result<Vec<SourceSearch>, Problem> {
    let is_few = sources.len() <= SOURCES_MAX;
    is_few.then_some(sources).ok_or_else(|| Problem::bad_parameter("source", &format!("at most {SOURCES_MAX} sources")))
}

fn source(wanted: &str) -> Result<SourceSearch, Problem> {
    let is_client = wanted.strip_prefix("FIX:").is_some_and(|comp_id| !comp_id.is_empty());
    match wanted {
        FIX => Ok(SourceSearch::AnyFix),
        known if is_client || SOURCES.contains(&known) => Ok(SourceSearch::Exactly(known.to_owned())),
        _ => {
            let expected = format!("one or several of {},FIX,FIX:<CompID>", SOURCES.join(","));
            Err(Problem::bad_parameter("source", &expected))
        }
    }
}

fn without_strategies(parameters: &QueryParameters) -> Result<bool, Problem> {
    match parameters.get("withoutStrategies") {
        None | Some("false") => Ok(false),
        Some("true") => Ok(true),
        Some(_) => Err(Problem::bad_parameter("withoutStrategies", "true or false")),
    }
}

/// An instant in epoch milliseconds.
pub(crate) fn instant(parameters: &QueryParameters, name: &'static str) -> Result<Option<Timestamp>, Problem> {
    const EXPECTED: &str = "epoch milliseconds";
    let millis = parameters.number::<i64>(name, EXPECTED)?;
    let read = |millis| Timestamp::from_millis(millis).ok_or_else(|| Problem::bad_parameter(name, EXPECTED));
    millis.map(read).transpose()
}
