//! Problem response of a failed request (RFC 9457).

use domain::Order;
use serde::Serialize;

use crate::fields::FieldError;
use crate::order::OrderVO;

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

#[derive(Debug, Serialize)]
pub struct ProblemVO<'a> {
    r#type: String,
    title: &'a str,
    status: u16,
    detail: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "<[FieldErrorVO<'_>]>::is_empty")]
    errors: Vec<FieldErrorVO<'a>>,
    /// The live order that a duplicate refers to.
    #[serde(skip_serializing_if = "Option::is_none")]
    order: Option<OrderVO<'a>>,
}

#[derive(Debug, Serialize)]
struct FieldErrorVO<'a> {
    field: &'a str,
    code: &'a str,
    reason: &'a str,
}

impl<'a> ProblemVO<'a> {
    pub fn new(status: u16, code: &'a str, title: &'a str, detail: &'a str) -> Self {
        let r#type = format!("urn:rialto:problem:{code}");
        Self { r#type, title, status, detail, code, errors: vec![], order: None }
    }

    pub fn with_errors(mut self, errors: &'a [FieldError]) -> Self {
        self.errors = errors.iter().map(FieldErrorVO::from_domain).collect();
        self
    }

    pub fn with_order(mut self, order: Option<&'a Order>) -> Self {
        self.order = order.map(OrderVO::from_domain);
        self
    }
}

impl<'a> FieldErrorVO<'a> {
    fn from_domain(error: &'a FieldError) -> Self {
        Self { field: &error.field, code: error.code, reason: &error.reason }
    }
}
