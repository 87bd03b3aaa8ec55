//! Cached lists of reference data, with ETag.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::Response;
use domain::ReferenceData;

use crate::doors::Doors;
use crate::form::{Form, KnownTags};
use crate::{answer, openapi};

/// The requested format of a list, and the client's tags.
pub(crate) struct ListWish {
    form: Form,
    known: KnownTags,
}

impl ListWish {
    /// The list with this name in the cache; `write` appends one item as JSON.
    pub(crate) fn answer<K, T>(
        &self,
        doors: &Doors,
        name: &'static str,
        table: fn(&ReferenceData) -> &BTreeMap<K, Arc<T>>,
        write: impl Fn(&Arc<T>, &mut Vec<u8>),
    ) -> Response {
        let copy = doors.shelf().copy(name, self.form, doors.reference(), |reference| {
            let items: Vec<_> = table(reference).values().cloned().collect();
            match self.form {
                Form::Json => wire::json::list(items, write).map(Bytes::from).collect(),
                Form::Csv(handler) => {
                    let columns = openapi::columns(handler);
                    wire::csv::table(items, &columns, write).map(Bytes::from).collect()
                }
            }
        });
        if copy.tag.to_str().is_ok_and(|tag| self.known.contain(tag)) {
            return answer::not_modified(&copy);
        }
        answer::copy(self.form, copy)
    }
}

impl FromRequestParts<Doors> for ListWish {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, doors: &Doors) -> Result<Self, Infallible> {
        let form = Form::from_request_parts(parts, doors).await?;
        Ok(Self { form, known: KnownTags::from_request_parts(parts, doors).await? })
    }
}
