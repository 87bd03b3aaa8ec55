//! Problem response of a failed request (RFC 9457).

use domain::Order;

use crate::bodies::fields::FieldError;
use crate::trading::order::OrderVO;
use crate::value_object::value_object;

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

value_object! {
    /// Why a call failed, as RFC 9457 has it. Programs go by the code, people by the detail.
    pub struct ProblemVO<'a> ("Problem", golden) {
        r#type: String,
        title: &'a str,
        status: u16,
        detail: &'a str,
        code: &'a str,
        ? errors: Vec<FieldErrorVO<'a>>,
        // The live order that a duplicate refers to.
        ? order: OrderVO<'a>,
    }
}

value_object! {
    /// A field that is to blame.
    pub struct FieldErrorVO<'a> ("FieldError")
    from (error: &'a FieldError) {
        field: &'a str = &error.field,
        code: &'a str = error.code,
        reason: &'a str = &error.reason,
    }
}

impl<'a> ProblemVO<'a> {
    pub fn new(status: u16, code: &'a str, title: &'a str, detail: &'a str) -> Self {
        let r#type = format!("urn:rialto:problem:{code}");
        Self { r#type, title, status, detail, code, errors: None, order: None }
    }

    pub fn with_errors(mut self, errors: &'a [FieldError]) -> Self {
        self.errors = (!errors.is_empty()).then(|| errors.iter().map(FieldErrorVO::from_domain).collect());
        self
    }

    pub fn with_order(mut self, order: Option<&'a Order>) -> Self {
        self.order = order.map(OrderVO::from_domain);
        self
    }
}
