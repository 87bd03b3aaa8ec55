//! Test platform: the demo reference data with a standing market.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use scenarios::http::{HttpClient, HttpResponse};
use scenarios::server::{RunningServer, ServerLauncher};
use scenarios::wait::wait_for;
use serde_json::{Value, json};
use tempfile::TempDir;

/// 2026-11-16 12:00 UTC, a Monday: both exchanges are open, nothing of the demo has expired.
const NOON: i64 = 1_794_830_400;

/// Opens at 272.39 to 272.41, 300 each, on the exchange that never closes; of account 1.
pub(crate) const AAPL: u64 = 1;
/// Opens at 510.18 to 510.22, 200 each; of account 1 too.
pub(crate) const MSFT: u64 = 2;
/// Opens at 210.45 to 210.55 on the exchange with auctions; of account 2.
pub(crate) const SAP: u64 = 16;

/// A data folder, and how its servers are started.
pub(crate) struct TestPlatform {
    folder: TempDir,
    pub(crate) launch: ServerLauncher,
}

impl TestPlatform {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let launch = launcher_for(&folder.path().join("data"));
        Self { folder, launch }
    }

    pub(crate) fn set(mut self, key: &str, value: impl std::fmt::Display) -> Self {
        self.launch = self.launch.clone().set(key, value);
        self
    }

    pub(crate) fn data(&self) -> &Path {
        self.launch.folder()
    }

    pub(crate) fn start(&self) -> RunningServer {
        self.launch.start()
    }

    /// With a clock that begins so many seconds after noon now.
    pub(crate) fn launch_at(&self, seconds_after_noon: i64) -> ServerLauncher {
        self.launch.clone().set("clock.offset", seconds_to_noon() + seconds_after_noon)
    }
}

/// The folder of a failed test is kept for analysis.
impl Drop for TestPlatform {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.folder.disable_cleanup(true);
            eprintln!("the data folder is kept: {}", self.data().display());
        }
    }
}

/// A server on that folder whose clock begins at noon now.
pub(crate) fn launcher_for(data: &Path) -> ServerLauncher {
    ServerLauncher::in_folder(data).set("clock.offset", seconds_to_noon())
}

/// By how many seconds a clock on which it is noon now is ahead of the wall's.
pub(crate) fn seconds_to_noon() -> i64 {
    NOON - wall_seconds()
}

/// The wall clock, in whole seconds.
fn wall_seconds() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("the clock is right");
    i64::try_from(since.as_secs()).expect("the clock is right")
}

pub(crate) fn limit(security: u64, side: &str, quantity: u64, price: &str) -> Value {
    json!({ "securityId": security, "side": side, "quantity": quantity, "limit": price, "tif": "GTC" })
}

pub(crate) fn market(security: u64, side: &str, quantity: u64) -> Value {
    json!({ "securityId": security, "side": side, "quantity": quantity })
}

/// With an id that the client chose.
pub(crate) fn with_id(mut order: Value, int_id: &str) -> Value {
    order["intId"] = json!(int_id);
    order
}

/// What a trader does over REST.
pub(crate) trait TraderClient {
    /// Sends an order and gives the answer.
    fn submit(&mut self, order: &Value) -> HttpResponse;

    /// Sends an order that is taken; gives its intId.
    fn place(&mut self, order: &Value) -> String;

    /// The answer to a GET, which must be 200; one that waits for a slow disk is asked for again, as any client does.
    fn get_json(&mut self, path: &str) -> Value;

    fn order(&mut self, int_id: &str) -> Value;

    /// Waits until the venue has brought an order that far.
    fn wait_for_status(&mut self, int_id: &str, status: &str) -> Value;

    /// Orders that are open, positions and cash, without the times at which they changed and what the venue states.
    fn account_state(&mut self) -> Value;
}

impl TraderClient for HttpClient {
    fn submit(&mut self, order: &Value) -> HttpResponse {
        self.post(path_of(order), &order.to_string()).unwrap()
    }

    fn place(&mut self, order: &Value) -> String {
        let response = self.submit(order);
        assert_eq!(response.status, 200, "{order}: {response:?}");
        int_id_in(&response)
    }

    fn get_json(&mut self, path: &str) -> Value {
        let is_stalled = |answer: &HttpResponse| answer.status == 503 && answer.body.contains("journal-stalled");
        let look = || Some(self.get(path).unwrap()).filter(|answer| !is_stalled(answer));
        let response = wait_for(&format!("an answer to {path}"), look);
        assert_eq!(response.status, 200, "{path}: {response:?}");
        serde_json::from_str(&response.body).unwrap()
    }

    fn order(&mut self, int_id: &str) -> Value {
        let found = self.get_json(&format!("/rest/execution/order/{int_id}"));
        let [order] = &found.as_array().unwrap()[..] else { panic!("not one order: {found}") };
        order.clone()
    }

    fn wait_for_status(&mut self, int_id: &str, status: &str) -> Value {
        let mut last = Value::Null;
        let look = || {
            last = self.order(int_id);
            (last["status"] == status).then(|| last.clone())
        };
        wait_for(&format!("{int_id} to become {status}"), look)
    }

    fn account_state(&mut self) -> Value {
        let mut picture = json!({
            "orders": self.get_json("/rest/execution/order"),
            "positions": self.get_json("/rest/position"),
            "cash": self.get_json("/rest/portfolio/balance"),
        });
        without_times(&mut picture);
        picture
    }
}

/// The path at which an order of this kind is placed.
pub(crate) fn path_of(order: &Value) -> &'static str {
    match order.get("limit") {
        Some(_) => "/rest/execution/order/limit",
        None => "/rest/execution/order/market",
    }
}

/// The order that an answer names.
pub(crate) fn int_id_in(response: &HttpResponse) -> String {
    let location = response.header("location").unwrap_or_else(|| panic!("no Location: {response:?}"));
    location.rsplit('/').next().unwrap().to_owned()
}

pub(crate) fn body_of(response: &HttpResponse) -> Value {
    serde_json::from_str(&response.body).unwrap_or_else(|error| panic!("{error}: {response:?}"))
}

/// Some fields of an object.
pub(crate) fn fields(object: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| ((*name).to_owned(), object[name].clone())).collect()
}

fn without_times(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["dateTime", "venueTotal", "venueLocked"] {
                fields.remove(name);
            }
            fields.values_mut().for_each(without_times);
        }
        Value::Array(items) => items.iter_mut().for_each(without_times),
        _ => {}
    }
}
