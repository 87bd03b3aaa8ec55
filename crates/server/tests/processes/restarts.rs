//! The server dies and is started again while the process stays, or the line between them is cut: the run goes on, with all that the
//! strategy remembers, and with what became of its requests and orders.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use scenarios::proxy::CuttableProxy;
use scenarios::wait::wait_for;
use serde_json::Value;

use crate::signpost::signpost;
use crate::{Story, ended, json, orders_ever, terminate};

impl Story {
    /// It comes back at the same addresses.
    fn restart_server(mut self) -> Self {
        let (http, broker) = (self.server.address(), self.server.port_address("brokerTcp"));
        self.server.kill();
        self.launch = self.launch.set("http.port", http.port()).set("broker.tcp.port", broker.port());
        self.server = self.launch.start();
        self
    }

    fn events(&self) -> Vec<Value> {
        let mut events = vec![];
        loop {
            let after = events.last().map_or(0, |event: &Value| event["sequence"].as_u64().unwrap());
            let page = json(&mut self.server.client(), &format!("/rest/history/events?after={after}&limit=1000"));
            match page.as_array().filter(|page| !page.is_empty()) {
                Some(page) => events.extend(page.iter().cloned()),
                None => return events,
            }
        }
    }

    fn runs_begun(&self) -> usize {
        self.events().iter().filter(|event| event["event"]["phase"] == "INIT").count()
    }

    fn credit_to(&self, name: &str, dollars: u32) {
        let body =
            format!(r#"{{"type":"CREDIT","price":{dollars},"currency":"USD","accountId":1,"strategyName":"{name}"}}"#);
        let booked = self.server.client().post("/rest/transaction", &body).unwrap();
        assert_eq!(booked.status, 200, "{booked:?}");
    }
}

/// What was booked meanwhile is told once, its order is known, and no second one is placed.
#[test]
fn one_whose_server_crashes_and_comes_back_resumes_with_its_order() {
    let story = Story::begin(&[("strategies.hangSeconds", "20")]);
    let mut process = story.run("reporter");
    story.until("its order", |client| crate::open_orders(client, "REPORTER") == 1);
    story.credit(1);
    wait_for("the first booking", || (story.bookings_told() == ["1"]).then_some(()));
    let story = story.restart_server();
    // Before or after the strategy is back: it hears of it in either case.
    story.credit(2);
    wait_for("the booking after the crash", || (story.bookings_told().last()? == "2").then_some(()));
    story.credit(3);
    wait_for("the last booking", || (story.bookings_told().last()? == "3").then_some(()));
    assert_eq!(story.bookings_told(), ["1", "2", "3"]);
    assert_eq!((orders_ever(&mut story.server.client(), "REPORTER"), story.runs_begun()), (1, 1), "{}", story.log());
    terminate(&process);
    assert_eq!(ended(&mut process), Some(0), "{}", story.log());
    story.until_phase("REPORTER", "EXIT");
}

/// A part of what the strategy has told: behind its name, up to the next one.
fn part<'a>(told: &'a str, name: &str) -> Vec<&'a str> {
    let found = told.split("; ").find_map(|part| part.strip_prefix(name));
    found.unwrap_or_else(|| panic!("no {name} in {told}")).split_whitespace().collect()
}

/// The orders of the requoter, as the platform has them.
fn orders(story: &Story) -> Vec<Value> {
    let orders = json(&mut story.server.client(), "/rest/history/order?strategy=REQUOTER&limit=1000");
    orders.as_array().unwrap().clone()
}

fn text(order: &Value, key: &str) -> String {
    order[key].as_str().unwrap().to_owned()
}

fn begin_with_orders(story: &Story) {
    story.until_phase("REQUOTER", "RUN");
    story.credit_to("REQUOTER", 1);
    story.until("orders to be placed and cancelled", |client| orders_ever(client, "REQUOTER") > 30);
}

/// Each of its orders is at the platform or was refused, and none is both; and its view is the platform's.
fn expect_equal_views(story: &Story) {
    let before = orders(story).len();
    story.until("more orders", |client| orders_ever(client, "REQUOTER") > before + 10);
    story.credit_to("REQUOTER", 2);
    let told = wait_for("the strategy to tell what it knows", || {
        let told = story.events().into_iter().find(|event| event["event"]["name"] == "told")?;
        Some(text(&told["event"], "body"))
    });
    assert_eq!(story.runs_begun(), 1, "{}", story.log());

    let orders = orders(story);
    let known: BTreeSet<String> = orders.iter().map(|order| text(order, "intId")).collect();
    let refused: BTreeSet<String> = part(&told, "refused").into_iter().map(ToOwned::to_owned).collect();
    assert_eq!(known.len(), orders.len(), "{orders:?}");
    assert!(known.is_disjoint(&refused), "{told}");
    assert_eq!(part(&told, "placed"), [(known.len() + refused.len()).to_string()], "{told}");
    assert!(!part(&told, "codes").contains(&"outcome-unknown"), "{told}");

    let is_open = |order: &&Value| order["status"] == "SUBMITTED";
    let open = orders.iter().filter(is_open).map(|order| format!("{}={}", text(order, "intId"), order["quantity"]));
    let open: BTreeSet<String> = open.collect();
    let in_view: BTreeSet<String> = part(&told, "open").into_iter().map(ToOwned::to_owned).collect();
    assert_eq!(in_view, open, "{told}");
    assert_eq!(part(&told, "ended"), [(known.len() - open.len()).to_string()], "{told}");
    assert_eq!(part(&told, "ended twice"), ["0"], "{told}");
}

#[test]
fn requests_that_were_under_way_when_the_server_died_are_neither_lost_nor_done_twice() {
    let story = Story::begin(&[("strategies.hangSeconds", "20")]);
    let _process = story.run("requoter");
    begin_with_orders(&story);
    let story = story.restart_server();
    expect_equal_views(&story);
    story.server.stop();
}

#[test]
fn orders_that_end_while_a_process_is_cut_off_are_not_open_in_its_view() {
    let story = Story::begin(&[("strategies.hangSeconds", "20")]);
    let proxy = CuttableProxy::to(story.server.port_address("brokerTcp"));
    let _process = story.run_at("requoter", signpost(&Arc::new(Mutex::new(proxy.address()))));
    begin_with_orders(&story);
    proxy.cut();
    let mut client = story.server.client();
    wait_for("the end of its orders", || {
        let open: Vec<_> = orders(&story).into_iter().filter(|order| order["status"] == "SUBMITTED").collect();
        for order in &open {
            client.delete(&format!("/rest/execution/order/{}", text(order, "intId"))).unwrap();
        }
        open.is_empty().then_some(())
    });
    proxy.restore();
    expect_equal_views(&story);
    story.server.stop();
}
