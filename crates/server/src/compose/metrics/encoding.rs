//! Encoding of metrics in Prometheus format.

use std::fmt;

use prometheus_client::encoding::{DescriptorEncoder, EncodeGaugeValue, EncodeLabelSet, EncodeMetric, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

pub(super) type EncodeResult = fmt::Result;

pub(super) fn encode_gauge(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    value: impl EncodeGaugeValue,
) -> EncodeResult {
    encoder.encode_descriptor(name, help, None, MetricType::Gauge)?.encode_gauge(&value)
}

pub(super) fn encode_counter(encoder: &mut DescriptorEncoder<'_>, name: &str, help: &str, value: u64) -> EncodeResult {
    ConstCounter::new(value).encode(encoder.encode_descriptor(name, help, None, MetricType::Counter)?)
}

pub(super) fn encode_gauges<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: impl IntoIterator<Item = (L, f64)>,
) -> EncodeResult {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (labels, value) in values {
        ConstGauge::new(value).encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

pub(super) fn encode_counters<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: impl IntoIterator<Item = (L, u64)>,
) -> EncodeResult {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Counter)?;
    for (labels, value) in values {
        ConstCounter::new(value).encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}

/// How often each size came, and their sum. Bucket `n` counts up to `bound(n)`, the last one all the rest.
pub(super) fn encode_histogram(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    (counts, sum): (&[u64], f64),
    bound: impl Fn(i32) -> f64,
) -> EncodeResult {
    let bounds = (0..).map(bound).take(counts.len().saturating_sub(1)).chain([f64::INFINITY]);
    let buckets: Vec<_> = bounds.zip(counts.iter().copied()).collect();
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Histogram)?;
    metric.encode_histogram::<NoLabelSet>(sum, counts.iter().sum(), &buckets, None)
}
