//! The toy venue: it buys and sells everything at 10. What it is told and what it tells is JSON; `toy_server` carries it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

const MARKET: f64 = 10.0;

#[derive(Default)]
pub(crate) struct ToyVenue {
    orders: BTreeMap<String, Value>,
    fills: Vec<Value>,
    subscribed: BTreeSet<String>,
    /// To the one connection that gets reports.
    pub(crate) stream: Option<UnboundedSender<String>>,
    pub(crate) sent: usize,
    pub(crate) is_down: bool,
}

impl ToyVenue {
    pub(crate) fn open_stream(&mut self) -> UnboundedReceiver<String> {
        let (sender, receiver) = unbounded_channel();
        (self.stream, self.sent, self.subscribed) = (Some(sender), 0, BTreeSet::new());
        self.send(&json!({ "event": "ready" }));
        receiver
    }

    fn send(&mut self, event: &Value) {
        if let Some(stream) = &self.stream {
            self.sent += usize::from(stream.send(event.to_string()).is_ok());
        }
    }

    pub(crate) fn subscribe(&mut self, command: &Value) {
        if let Some(symbol) = command["subscribe"].as_str() {
            self.subscribed.insert(symbol.to_owned());
            // A subscription begins with the last price: orders come by another line and may be faster.
            self.send_price();
        }
        if let Some(symbol) = command["unsubscribe"].as_str() {
            self.subscribed.remove(symbol);
        }
        self.send(&json!({ "event": "done" }));
    }

    /// A request with the id in its path: the status of the answer, and its body.
    pub(crate) fn handle(&mut self, method: &str, id: &str, body: &Value) -> (u16, Value) {
        match method {
            "get" => (200, json!({ "orders": self.orders.values().collect::<Vec<_>>(), "fills": self.fills })),
            "post" => self.submit(body),
            _ if self.orders.get(id).is_none_or(|order| order["state"] != "live") => {
                (404, json!({ "reason": "unknown order" }))
            }
            "delete" => self.change(id, "canceled", &json!({ "state": "canceled" })),
            _ => self.change(id, "replaced", &json!({ "quantity": body["quantity"], "limit": body["limit"] })),
        }
    }

    fn submit(&mut self, body: &Value) -> (u16, Value) {
        let id = body["clientId"].as_str().unwrap().to_owned();
        if self.orders.contains_key(&id) {
            return (409, json!({ "reason": "duplicate" }));
        }
        if body["symbol"] != "7" {
            return (400, json!({ "reason": "unknown symbol" }));
        }
        let mut order = body.clone();
        (order["state"], order["orderId"]) = (json!("live"), json!(format!("T{}", self.orders.len() + 1)));
        self.orders.insert(id.clone(), order);
        self.change(&id, "accepted", &json!({}));
        if body["limit"].as_str().unwrap().parse::<f64>().unwrap() >= MARKET {
            self.trade(&id, body);
        }
        (201, json!({}))
    }

    fn change(&mut self, id: &str, event: &str, changes: &Value) -> (u16, Value) {
        let order = self.orders.get_mut(id).unwrap();
        changes.as_object().unwrap().iter().for_each(|(name, value)| order[name] = value.clone());
        let report = json!({ "event": event, "order": order });
        self.send(&report);
        (200, json!({}))
    }

    fn trade(&mut self, id: &str, body: &Value) {
        let exec_id = format!("F{}", self.fills.len() + 1);
        let fill =
            json!({ "clientId": id, "execId": exec_id, "quantity": body["quantity"], "price": MARKET.to_string() });
        self.fills.push(fill.clone());
        self.send(&json!({ "event": "filled", "fill": fill }));
        self.send_price();
    }

    fn send_price(&mut self) {
        if self.subscribed.contains("7") {
            self.send(&json!({ "event": "price", "symbol": "7", "last": MARKET.to_string() }));
        }
    }
}
