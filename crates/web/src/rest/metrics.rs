//! Numbers for whoever watches the server, as Prometheus reads them: of this door, of the engine, of the program.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use domain::report::SessionState;
use domain::risk::StateChange;
use domain::{AdapterName, Answer, Order, Query};
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use crate::doors::Doors;
use crate::problem::Problem;

const MEDIA_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

type Labels<const N: usize> = [(&'static str, String); N];

pub(crate) async fn all(State(doors): State<Doors>) -> Result<Response, Problem> {
    let operations = doors.shared_operations();
    let mut text = doors
        .aside(move || {
            let mut text = String::new();
            operations.write_metrics(&mut text);
            text
        })
        .await?;
    doors.metrics().write(&mut text);
    // An engine that does not answer is seen by its numbers being gone.
    if let Ok(registry) = of_the_engine(&doors).await {
        encode_registry(&mut text, &registry).expect("a text takes everything");
    }
    encode_eof(&mut text).expect("a text takes everything");
    Ok(([(header::CONTENT_TYPE, MEDIA_TYPE)], text).into_response())
}

async fn of_the_engine(doors: &Doors) -> Result<Registry, Problem> {
    let mut registry = Registry::with_prefix("rialto");
    if let Answer::Orders(open) = doors.ask(Query::OpenOrders(Default::default())).await?.answer {
        note_orders(&open, &mut registry);
    }
    if let Answer::Adapters(adapters) = doors.ask(Query::Adapters).await?.answer {
        note_adapters(&adapters, &mut registry);
    }
    if let Answer::TradingStates(states) = doors.ask(Query::TradingStates).await?.answer {
        note_states(&states, &mut registry);
    }
    Ok(registry)
}

fn note_orders(open: &[Arc<Order>], registry: &mut Registry) {
    let mut counts = BTreeMap::<(&str, &str), i64>::new();
    for order in open {
        *counts.entry((order.status().name(), wire::order::door(&order.source))).or_default() += 1;
    }
    let family = Family::<Labels<2>, Gauge>::default();
    for ((status, door), count) in counts {
        family.get_or_create(&[("status", status.into()), ("door", door.into())]).set(count);
    }
    registry.register("open_orders", "Orders that are open", family);
    let in_doubt = Gauge::<i64>::default();
    in_doubt.set(i64::try_from(open.iter().filter(|order| order.in_doubt).count()).unwrap_or(i64::MAX));
    registry.register("orders_in_doubt", "Orders of which nobody knows whether the venue has them", in_doubt);
}

fn note_adapters(adapters: &[(AdapterName, SessionState)], registry: &mut Registry) {
    let family = Family::<Labels<1>, Gauge>::default();
    for (adapter, state) in adapters {
        family.get_or_create(&[("adapter", adapter.to_string())]).set(*state as i64);
    }
    let help = "0 disconnected, 1 connected, 2 logged on, 3 subscribed";
    registry.register("adapter_state", help, family);
}

fn note_states(states: &[StateChange], registry: &mut Registry) {
    let family = Family::<Labels<1>, Gauge>::default();
    for change in states {
        family.get_or_create(&[("scope", change.scope.to_string())]).set(change.state as i64);
    }
    registry.register("trading_state", "0 active, 1 reducing, 2 halted", family);
}
