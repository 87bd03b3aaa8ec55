//! `/metrics` in Prometheus text format: of HTTP, of the engine, of the program. `docs/metrics.md` describes each; a
//! name is present also while its value is zero.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bus::operations::FixSessionStatus;
use domain::breaks::{Break, BreakKind, BreakState};
use domain::query::{AdapterStatus, LineStatus, ReconciliationLag};
use domain::risk::{DeadManTimer, TradingState, TradingStateChange};
use domain::{AdapterName, Answer, Order, Query, RiskScope, StaleCause, Tick};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Registry;

use crate::app_state::AppState;
use crate::problem::Problem;

const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const PLAIN: &str = "text/plain; version=0.0.4; charset=utf-8";

pub(crate) async fn all(State(state): State<AppState>, headers: HeaderMap) -> Result<Response, Problem> {
    let services = state.services().clone();
    let (mut text, sessions) = state
        .blocking(move || {
            let mut text = String::new();
            services.admin.write_metrics(&mut text);
            (text, services.fix_session_states())
        })
        .await?;
    state.metrics().write(&mut text);
    let mut registry = Registry::with_prefix("rialto");
    registry.register_collector(Box::new(RefusalCounters(state.access().refusals())));
    registry.register_collector(Box::new(FixSessionGauges(sessions)));
    // An engine that does not answer is visible by its missing metrics.
    if let Ok(trading) = TradingGauges::query(&state).await {
        registry.register_collector(Box::new(trading));
    }
    encode_registry(&mut text, &registry).expect("a text takes everything");
    encode_eof(&mut text).expect("a text takes everything");
    Ok(([(header::CONTENT_TYPE, media_type(&headers))], text).into_response())
}

/// The older format is sent only on request; the text is valid in both, because only comments differ.
fn media_type(headers: &HeaderMap) -> &'static str {
    let accepted: Vec<_> = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    let names = |part: &str| accepted.iter().any(|value| value.contains(part));
    if names("text/plain") && !names("openmetrics-text") && !names("*/*") { PLAIN } else { OPEN_METRICS }
}

/// Current state of the engine.
fn is_follower(state: &AppState) -> bool {
    let view = state.services().health.cluster();
    view.is_some_and(|view| view.role == bus::operations::ClusterRole::Follower)
}

#[derive(Debug, Default)]
struct TradingGauges {
    open: Vec<Arc<Order>>,
    adapters: Vec<AdapterStatus>,
    states: Vec<TradingStateChange>,
    dead_man_timers: Vec<DeadManTimer>,
    lags: Vec<ReconciliationLag>,
    breaks: Vec<Arc<Break>>,
    ticks: Vec<Arc<Tick>>,
}

impl TradingGauges {
    async fn query(state: &AppState) -> Result<Self, Problem> {
        let answers = [
            Query::OpenOrders(Default::default()),
            Query::Adapters,
            Query::TradingStates,
            Query::DeadManTimers,
            Query::ReconciliationLags,
            Query::Breaks,
        ];
        // A follower gets prices of what somebody asks for: a look at its metrics must not ask.
        let prices = (!is_follower(state)).then(|| Query::Ticks(Default::default()));
        let mut seen = Self::default();
        for query in answers.into_iter().chain(prices) {
            match state.query(query).await?.answer {
                Answer::Orders(open) => seen.open = open,
                Answer::Adapters(adapters) => seen.adapters = adapters,
                Answer::TradingStates(states) => seen.states = states,
                Answer::DeadManTimers(timers) => seen.dead_man_timers = timers,
                Answer::ReconciliationLags(lags) => seen.lags = lags,
                Answer::Breaks(breaks) => seen.breaks = breaks,
                Answer::Ticks(ticks) => seen.ticks = ticks,
                _ => return Err(Problem::unexpected_answer()),
            }
        }
        Ok(seen)
    }

    fn by_status_and_source(&self) -> BTreeMap<[(&'static str, &'static str); 2], u64> {
        let mut counts = BTreeMap::new();
        for order in &self.open {
            let labels = [("status", order.status().name()), ("door", wire::order::source_name(&order.source))];
            *counts.entry(labels).or_default() += 1;
        }
        counts
    }

    fn by_line(&self, number: impl Fn(&LineStatus) -> Option<u64>) -> BTreeMap<[(&'static str, String); 2], u64> {
        let lines = self.adapters.iter().flat_map(|one| one.lines.iter().map(move |line| (&one.adapter, line)));
        let label = |adapter: &AdapterName, line: &LineStatus| {
            [("adapter", adapter.to_string()), ("line", line.state.line.name().to_owned())]
        };
        lines.filter_map(|(adapter, line)| Some((label(adapter, line), number(line)?))).collect()
    }

    /// The platform's state is present also where it was never changed.
    fn by_scope(&self) -> BTreeMap<[(&'static str, String); 1], u64> {
        let label = |scope: &RiskScope| [("scope", scope.to_string())];
        let set = self.states.iter().map(|change| (label(&change.scope), change.state as u64));
        [(label(&RiskScope::Platform), TradingState::Active as u64)].into_iter().chain(set).collect()
    }
}

impl Collector for TradingGauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let encoder = &mut encoder;
        gauges(encoder, "open_orders", "Orders that are open", self.by_status_and_source())?;
        let in_doubt = self.open.iter().filter(|order| order.in_doubt).count() as u64;
        let help = "Orders of which it is unknown whether the venue has them";
        encoder.encode_descriptor("orders_in_doubt", help, None, MetricType::Gauge)?.encode_gauge(&in_doubt)?;
        let adapters = self.adapters.iter().map(|one| ([("adapter", one.adapter.to_string())], one.session as u64));
        gauges(encoder, "adapter_state", "0 disconnected, 1 connected, 2 logged on, 3 subscribed", adapters)?;
        gauges(encoder, "adapter_line_up", "0 down, 1 up", self.by_line(|line| Some(u64::from(line.state.up))))?;
        let help = "When the line was last heard, in seconds since 1970";
        let heard = |line: &LineStatus| line.last_heard.map(|at| at.millis().unsigned_abs() / 1_000);
        gauges(encoder, "adapter_line_last_heard_seconds", help, self.by_line(heard))?;
        let open = |kind: BreakKind| {
            let is_open = |found: &&Arc<Break>| found.difference.kind == kind && found.state == BreakState::Open;
            ([("kind", kind.name())], self.breaks.iter().filter(is_open).count() as u64)
        };
        gauges(encoder, "breaks_open", "Differences to venues that nobody has settled", BreakKind::ALL.map(open))?;
        let stale = |cause: StaleCause| {
            ([("cause", cause.name())], self.ticks.iter().filter(|tick| tick.stale == Some(cause)).count() as u64)
        };
        let help = "Securities whose prices may no longer be true, by cause";
        gauges(encoder, "market_data_stale", help, StaleCause::ALL.map(stale))?;
        let lags = self.lags.iter().map(|lag| {
            let labels = [("adapter", lag.adapter.to_string()), ("scope", lag.scope.to_owned())];
            (labels, u64::try_from(lag.seconds).unwrap_or(0))
        });
        let help = "Age of the state that our orders and fills were last compared with";
        gauges(encoder, "reconcile_lag_seconds", help, lags)?;
        let timers = self.dead_man_timers.len() as u64;
        let help = "Dead-man timers that run";
        encoder.encode_descriptor("dead_man_timers", help, None, MetricType::Gauge)?.encode_gauge(&timers)?;
        gauges(encoder, "trading_state", "0 active, 1 reducing, 2 halted", self.by_scope())
    }
}

/// Refusals, by code.
#[derive(Debug)]
struct RefusalCounters(BTreeMap<String, u64>);

impl Collector for RefusalCounters {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let help = "Refused logins and requests without the needed rights on all interfaces, by code";
        let mut metric = encoder.encode_descriptor("auth_failures", help, None, MetricType::Counter)?;
        for (code, count) in &self.0 {
            ConstCounter::new(*count).encode(metric.encode_family(&[("code", code.as_str())])?)?;
        }
        Ok(())
    }
}

/// FIX sessions.
#[derive(Debug)]
struct FixSessionGauges(Vec<FixSessionStatus>);

impl Collector for FixSessionGauges {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let of_each = |number: fn(&FixSessionStatus) -> u64| {
            self.0.iter().map(move |session| ([("session", session.id.clone())], number(session)))
        };
        let encoder = &mut encoder;
        gauges(encoder, "fix_session_state", "0 disconnected, 1 logged on", of_each(|s| u64::from(s.is_logged_on())))?;
        gauges(encoder, "fix_next_in", "Number of the next message that the client sends", of_each(|s| s.next_in))?;
        gauges(encoder, "fix_next_out", "Number of the next message that we send", of_each(|s| s.next_out))
    }
}

fn gauges<L: EncodeLabelSet>(
    encoder: &mut DescriptorEncoder<'_>,
    name: &str,
    help: &str,
    values: impl IntoIterator<Item = (L, u64)>,
) -> fmt::Result {
    let mut metric = encoder.encode_descriptor(name, help, None, MetricType::Gauge)?;
    for (labels, value) in values {
        ConstGauge::new(value).encode(metric.encode_family(&labels)?)?;
    }
    Ok(())
}
