//! HTTP metrics: requests by endpoint and status, latencies, problems by code. Labels come from our own tables, so
//! their number is bounded.

use std::time::Duration;

use axum::response::Response;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode_registry;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

use crate::endpoints::Endpoint;
use crate::problem::ProblemCode;

/// Label of requests without an endpoint.
const NO_ENDPOINT: &str = "none";

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: &'static str,
    endpoint: &'static str,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EndpointLabels {
    method: &'static str,
    endpoint: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CodeLabels {
    code: &'static str,
}

pub(crate) struct HttpMetrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    seconds: Family<EndpointLabels, Histogram, fn() -> Histogram>,
    problems: Family<CodeLabels, Counter>,
}

impl HttpMetrics {
    pub(crate) fn new() -> Self {
        let (requests, problems) = (Family::default(), Family::default());
        let seconds = Family::new_with_constructor(latencies as fn() -> Histogram);
        let mut registry = Registry::with_prefix("rialto_http");
        registry.register("requests", "Requests that were answered", requests.clone());
        registry.register("request_seconds", "From the headers of a request to those of its answer", seconds.clone());
        registry.register("problems", "Answers that did not go well, by code", problems.clone());
        Self { registry, requests, seconds, problems }
    }

    /// Counts a response, by its endpoint if there is one.
    pub(crate) fn record(&self, row: Option<&Endpoint>, response: &Response, took: Duration) {
        let (method, endpoint) = row.map_or(("", NO_ENDPOINT), |row| (row.method, row.path));
        self.requests.get_or_create(&RequestLabels { method, endpoint, status: response.status().as_u16() }).inc();
        self.seconds.get_or_create(&EndpointLabels { method, endpoint }).observe(took.as_secs_f64());
        if let Some(ProblemCode(code)) = response.extensions().get() {
            self.problems.get_or_create(&CodeLabels { code }).inc();
        }
    }

    pub(crate) fn write(&self, text: &mut String) {
        encode_registry(text, &self.registry).expect("a text takes everything");
    }
}

/// From 50 µs to about 26 s.
fn latencies() -> Histogram {
    Histogram::new(exponential_buckets(0.000_05, 3.0, 13))
}
