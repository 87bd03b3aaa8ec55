//! Strategies in processes of their own: one that dies, hangs or is cut off is noticed, its orders are handled by policy, and
//! when it comes back it resumes where it stopped hearing.

#![allow(clippy::unwrap_used, reason = "a step of a story that fails shall end it")]

/// A server that only says where the broker is now.
mod signpost;
/// Processes that come over NATS.
mod over_nats;
/// The server dies and is started again: runs go on.
mod restarts;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use scenarios::http::HttpClient;
use scenarios::proxy::CuttableProxy;
use scenarios::server::{RunningServer, ServerLauncher};
use scenarios::wait::wait_for;
use serde_json::Value;
use tempfile::TempDir;

use signpost::signpost;

/// Cargo puts examples beside the tests.
fn misbehaving_strategies() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.ancestors().nth(2).unwrap().join("examples").join("misbehaving_strategies")
}

struct Story {
    folder: TempDir,
    launch: ServerLauncher,
    server: RunningServer,
}

/// A strategy process; dropping it kills it.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Story {
    fn begin(settings: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let launch = ServerLauncher::with_program(&misbehaving_strategies(), &folder.path().join("data"))
            .set("strategies.distributed", true)
            .set("strategies.hangSeconds", 2);
        let launch = settings.iter().fold(launch, |launch, (key, value)| launch.set(key, value));
        Self { server: launch.start(), launch, folder }
    }

    /// Server and strategy process die together, and the server starts again with that setting too.
    fn both_die(mut self, process: Process, (key, value): (&str, &str)) -> Self {
        self.server.kill();
        drop(process);
        self.launch = self.launch.set(key, value);
        self.server = self.launch.start();
        self
    }

    fn run(&self, member: &str) -> Process {
        self.run_at(member, self.server.address())
    }

    fn run_at(&self, member: &str, http: SocketAddr) -> Process {
        self.run_with(member, http, &[])
    }

    fn take_over(&self, member: &str) -> Process {
        self.run_with(member, self.server.address(), &["--take-over"])
    }

    fn run_with(&self, member: &str, http: SocketAddr, flags: &[&str]) -> Process {
        let server = format!("http://{http}");
        self.spawn(member, &[&["--server", &server][..], flags].concat())
    }

    fn spawn(&self, member: &str, flags: &[&str]) -> Process {
        let name = member.to_uppercase();
        let log = std::fs::File::options().create(true).append(true).open(self.log_path()).unwrap();
        let mut command = Command::new(misbehaving_strategies());
        command.args(["strategy", "run", &name]).args(flags);
        command.arg("--set").arg(format!("strategies.instances={name}:{member} security=1"));
        Process(command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().unwrap())
    }

    fn log_path(&self) -> PathBuf {
        self.folder.path().join("strategy.log")
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.log_path()).unwrap()
    }

    #[track_caller]
    fn until(&self, what: &str, mut is_so: impl FnMut(&mut HttpClient) -> bool) {
        let mut client = self.server.client();
        wait_for(what, || is_so(&mut client).then_some(()));
    }

    #[track_caller]
    fn until_phase(&self, name: &str, phase: &str) {
        self.until(&format!("{name} in {phase}"), |client| phase_of(client, name) == phase);
    }

    /// Cash for the strategy.
    fn credit(&self, dollars: u32) {
        let body = format!(
            r#"{{"type":"CREDIT","price":{dollars},"currency":"USD","accountId":1,"strategyName":"REPORTER"}}"#
        );
        let booked = self.server.client().post("/rest/transaction", &body).unwrap();
        assert_eq!(booked.status, 200, "{booked:?}");
    }

    /// What the strategy said of its bookings.
    fn bookings_told(&self) -> Vec<String> {
        let events = json(&mut self.server.client(), "/rest/history/events?after=0&limit=1000");
        let told = events.as_array().unwrap().iter().filter(|event| event["event"]["name"] == "booked");
        told.map(|event| event["event"]["body"].as_str().unwrap().to_owned()).collect()
    }
}

fn json(client: &mut HttpClient, path: &str) -> Value {
    serde_json::from_str(&client.get(path).unwrap().body).unwrap()
}

fn phase_of(client: &mut HttpClient, name: &str) -> String {
    let strategies = json(client, "/rest/strategy");
    let found = strategies.as_array().unwrap().iter().find(|strategy| strategy["name"] == name);
    found.map_or_else(String::new, |strategy| strategy["phase"].as_str().unwrap_or("-").to_owned())
}

fn open_orders(client: &mut HttpClient, name: &str) -> usize {
    // A strategy that nobody has heard of yet has none.
    json(client, &format!("/rest/execution/order?strategy={name}")).as_array().map_or(0, Vec::len)
}

/// The exit code of a process that ends by itself.
fn ended(process: &mut Process) -> Option<i32> {
    wait_for("the end of the process", || process.0.try_wait().unwrap()).code()
}

fn terminate(process: &Process) {
    signal(process, "TERM");
}

fn signal(process: &Process, signal: &str) {
    let kill = format!("kill -{signal} \"$0\"");
    let told = Command::new("sh").args(["-c", &kill, &process.0.id().to_string()]).status();
    assert!(told.unwrap().success());
}

#[test]
fn a_strategy_process_trades_and_leaves_in_order() {
    let story = Story::begin(&[]);
    let mut process = story.run("steady");
    story.until_phase("STEADY", "RUN");
    story.until("its order", |client| open_orders(client, "STEADY") == 1);
    terminate(&process);
    assert_eq!(ended(&mut process), Some(0), "{}", story.log());
    story.until_phase("STEADY", "EXIT");
    story.until("the cancel of its order", |client| open_orders(client, "STEADY") == 0);
    story.server.stop();
}

#[test]
fn a_server_that_stops_lets_its_strategy_processes_leave() {
    let story = Story::begin(&[]);
    let mut process = story.run("steady");
    story.until_phase("STEADY", "RUN");
    story.server.stop();
    assert_eq!(ended(&mut process), Some(0));
}

#[test]
fn one_that_dies_is_noticed_and_its_orders_are_cancelled_and_it_may_come_back() {
    let story = Story::begin(&[]);
    let process = story.run("steady");
    story.until_phase("STEADY", "RUN");
    story.until("its order", |client| open_orders(client, "STEADY") == 1);
    drop(process);
    story.until_phase("STEADY", "EXIT");
    story.until("the cancel of its order", |client| open_orders(client, "STEADY") == 0);
    // Its log is read beside the answers.
    story.until("the alarm", |_| story.server.log().contains("strategy STEADY is silent"));
    let _again = story.run("steady");
    story.until_phase("STEADY", "RUN");
    story.until("its new order", |client| open_orders(client, "STEADY") == 1);
}

/// Its order was left open, and the error line tells of it.
fn is_given_up(story: &Story, said: &str) {
    story.until_phase("STEADY", "EXIT");
    story.until("the cancel of its order", |client| open_orders(client, "STEADY") == 0);
    assert!(story.server.log().contains(said), "{}", story.server.log());
}

fn with_an_order(settings: &[(&str, &str)]) -> (Story, Process) {
    let story = Story::begin(settings);
    let process = story.run("steady");
    story.until_phase("STEADY", "RUN");
    story.until("its order", |client| open_orders(client, "STEADY") == 1);
    (story, process)
}

#[test]
fn one_that_died_with_the_server_and_does_not_come_back_is_given_up_and_its_orders_are_cancelled() {
    let (story, process) = with_an_order(&[]);
    let story = story.both_die(process, ("strategies.hangSeconds", "1"));
    is_given_up(&story, "strategy STEADY did not come back");
}

#[test]
fn one_that_nobody_can_run_any_more_is_given_up_at_the_start() {
    let (story, process) = with_an_order(&[]);
    let story = story.both_die(process, ("strategies.distributed", "false"));
    assert_eq!(phase_of(&mut story.server.client(), "STEADY"), "EXIT");
    is_given_up(&story, "strategy STEADY did not come back");
}

#[test]
fn orders_of_one_that_is_given_up_stay_where_the_policy_keeps_them() {
    let (story, process) = with_an_order(&[("strategies.onFailure", "keep")]);
    let story = story.both_die(process, ("strategies.distributed", "false"));
    let mut client = story.server.client();
    assert_eq!((phase_of(&mut client, "STEADY").as_str(), open_orders(&mut client, "STEADY")), ("EXIT", 1));
}

#[test]
fn one_that_is_waited_for_may_come_back_or_be_stopped() {
    let (story, process) = with_an_order(&[]);
    let story = story.both_die(process, ("strategies.hangSeconds", "600"));
    let mut client = story.server.client();
    assert_eq!((phase_of(&mut client, "STEADY").as_str(), open_orders(&mut client, "STEADY")), ("RUN", 1));
    let process = story.run("steady");
    story.until("the order of its new life", |client| open_orders(client, "STEADY") == 2);
    let story = story.both_die(process, ("strategies.hangSeconds", "600"));
    let mut client = story.server.client();
    assert_eq!(client.post("/rest/strategy/STEADY/stop", "").unwrap().status, 200);
    is_given_up(&story, "orphaned strategy stopped by request");
    assert_eq!(client.post("/rest/strategy/STEADY/stop", "").unwrap().status, 409);
}

#[test]
fn one_that_hangs_is_noticed_and_its_process_ends() {
    let story = Story::begin(&[]);
    let mut process = story.run("hanger");
    story.until_phase("HANGER", "EXIT");
    story.until("the cancel of its order", |client| open_orders(client, "HANGER") == 0);
    assert_eq!(ended(&mut process), Some(1));
    assert!(story.log().contains("server ended the run"), "{}", story.log());
}

#[test]
fn one_that_panics_is_stopped_alone() {
    let story = Story::begin(&[]);
    let (mut process, _steady) = (story.run("panicker"), story.run("steady"));
    story.until_phase("STEADY", "RUN");
    assert_eq!(ended(&mut process), Some(1));
    story.until_phase("PANICKER", "EXIT");
    story.until("the cancel of its order", |client| open_orders(client, "PANICKER") == 0);
    assert!(story.server.log().contains("PANICKER panicked: it panicked: the panicker panics"));
    story.until_phase("STEADY", "RUN");
}

#[test]
fn one_that_was_away_hears_what_it_missed_when_it_comes_back() {
    let story = Story::begin(&[("strategies.onFailure", "keep")]);
    let process = story.run("reporter");
    story.until("its order", |client| open_orders(client, "REPORTER") == 1);
    story.credit(1);
    wait_for("the first booking", || (story.bookings_told() == ["1"]).then_some(()));
    drop(process);
    story.until_phase("REPORTER", "EXIT");
    story.credit(2);
    let _again = story.run("reporter");
    // What it heard just before it died it may not have confirmed, and then hears again.
    wait_for("the booking that it missed", || (story.bookings_told().last()? == "2").then_some(()));
    assert!(
        [vec!["1", "2"], vec!["1", "1", "2"]].contains(&story.bookings_told().iter().map(String::as_str).collect())
    );
}

#[test]
fn one_that_was_cut_off_for_a_moment_goes_on_and_hears_everything_once() {
    let story = Story::begin(&[("strategies.hangSeconds", "20")]);
    let proxy = CuttableProxy::to(story.server.port_address("brokerTcp"));
    let _process = story.run_at("reporter", signpost(&Arc::new(Mutex::new(proxy.address()))));
    story.until("its order", |client| open_orders(client, "REPORTER") == 1);
    story.credit(1);
    wait_for("the first booking", || (story.bookings_told() == ["1"]).then_some(()));
    proxy.cut();
    story.credit(2);
    proxy.restore();
    wait_for("the booking during the cut", || (story.bookings_told() == ["1", "2"]).then_some(()));
    story.credit(3);
    wait_for("the last booking", || (story.bookings_told() == ["1", "2", "3"]).then_some(()));
    let phases = json(&mut story.server.client(), "/rest/history/events?after=0&limit=1000");
    let lives = phases.as_array().unwrap().iter().filter(|event| event["event"]["phase"] == "INIT").count();
    assert_eq!(lives, 1, "{}", story.log());
}

#[test]
fn one_that_is_cut_off_finds_a_broker_that_has_moved() {
    let story = Story::begin(&[("strategies.hangSeconds", "20")]);
    let [before, after] = [(), ()].map(|()| CuttableProxy::to(story.server.port_address("brokerTcp")));
    let broker = Arc::new(Mutex::new(before.address()));
    let _process = story.run_at("reporter", signpost(&broker));
    story.until("its order", |client| open_orders(client, "REPORTER") == 1);
    *broker.lock().unwrap() = after.address();
    before.cut();
    story.credit(1);
    wait_for("the booking", || (story.bookings_told() == ["1"]).then_some(()));
}

/// Names of orders that it has placed since the journal began.
fn orders_ever(client: &mut HttpClient, name: &str) -> usize {
    json(client, &format!("/rest/history/order?strategy={name}&limit=1000")).as_array().unwrap().len()
}

#[test]
fn one_in_a_process_warms_up_with_all_the_bars_that_it_may_ask_for() {
    let mut story = Story::begin(&[("demo.historyDays", "0")]);
    story.server.stop();
    let minutes = story.folder.path().join("data/bars/MIN_1");
    std::fs::create_dir_all(&minutes).unwrap();
    let row = |number: i64| format!("{},1,9,1,{}\n", 1_735_689_600_000 + number * 60_000, 2 + number % 7);
    let rows: String = (0..12_000).map(row).collect();
    std::fs::write(minutes.join("1.csv"), format!("dateTime,open,high,low,close\n{rows}")).unwrap();
    story.server = story.launch.start();
    let _process = story.run("historian");
    let told = |events: Value| events.to_string().contains("10000 bars, the last at 3");
    story.until("what it knows", |client| told(json(client, "/rest/history/events?after=0&limit=1000")));
}

#[test]
fn a_name_that_runs_in_the_server_is_taken() {
    let story = Story::begin(&[("strategies.instances", "STEADY:steady security=1")]);
    let mut process = story.run("steady");
    assert_eq!(ended(&mut process), Some(1));
    assert!(story.log().contains("the server refused (strategy-runs): it runs already"), "{}", story.log());
}

#[test]
fn a_second_process_is_refused_while_the_first_is_well_unless_it_takes_over() {
    let (story, mut first) = with_an_order(&[("strategies.hangSeconds", "20")]);
    let mut second = story.run("steady");
    assert_eq!(ended(&mut second), Some(1));
    let said =
        "strategy STEADY: another process runs it and is well; stop that one, or take its place with --take-over";
    assert!(story.log().contains(said), "{}", story.log());
    assert_eq!(phase_of(&mut story.server.client(), "STEADY"), "RUN");
    assert!(first.0.try_wait().unwrap().is_none(), "{}", story.log());
    let mut third = story.take_over("steady");
    assert_eq!(ended(&mut first), Some(1));
    assert!(story.log().contains("is replaced by another process"), "{}", story.log());
    assert!(story.server.log().contains("strategy STEADY is replaced by another process"), "{}", story.server.log());
    story.until("the order of the new one, and the cancel of the old", |client| {
        phase_of(client, "STEADY") == "RUN" && open_orders(client, "STEADY") == 1
    });
    assert!(third.0.try_wait().unwrap().is_none(), "{}", story.log());
}

#[test]
fn one_that_was_killed_may_be_started_again_at_once() {
    let (story, first) = with_an_order(&[("strategies.hangSeconds", "20")]);
    drop(first);
    let _again = story.run("steady");
    story.until("the order of its new life", |client| {
        let orders = json(client, "/rest/history/order?strategy=STEADY&limit=1000");
        orders.as_array().unwrap().len() == 2 && phase_of(client, "STEADY") == "RUN"
    });
}

/// One that stands still keeps its connection; nothing that is for its successor may go there.
#[test]
fn one_that_stands_still_does_not_hold_its_successor_up_and_leaves_when_it_wakes() {
    let story = Story::begin(&[("strategies.hangSeconds", "20"), ("strategies.onFailure", "keep")]);
    let mut first = story.run("reporter");
    story.until("its order", |client| open_orders(client, "REPORTER") == 1);
    signal(&first, "STOP");
    let _second = story.run("reporter");
    story.until("the first to be replaced", |_| story.server.log().contains("REPORTER is replaced by another process"));
    let runs = |line: &&str| line.contains("REPORTER") && line.contains("phase") && line.contains("RUN");
    story.until("the second in RUN", |_| story.server.log().lines().filter(runs).count() == 2);
    (1..=20).for_each(|dollars| story.credit(dollars));
    let told: Vec<String> = (1..=20).map(|dollars: u32| dollars.to_string()).collect();
    wait_for("all bookings, once", || (story.bookings_told() == told).then_some(()));
    signal(&first, "CONT");
    assert_eq!(ended(&mut first), Some(1), "{}", story.log());
}

/// Its orders were handled by policy; it hears of that, and begins anew in the same process.
#[test]
fn one_that_stood_still_for_too_long_begins_a_new_life_when_it_wakes() {
    let story = Story::begin(&[]);
    let mut process = story.run("reporter");
    story.until("its order", |client| open_orders(client, "REPORTER") == 1);
    story.credit(1);
    wait_for("the first booking", || (story.bookings_told() == ["1"]).then_some(()));
    signal(&process, "STOP");
    story.until_phase("REPORTER", "EXIT");
    story.until("the cancel of its order", |client| open_orders(client, "REPORTER") == 0);
    story.credit(2);
    signal(&process, "CONT");
    story.until("the order of its new life", |client| open_orders(client, "REPORTER") == 1);
    wait_for("what it missed", || (story.bookings_told() == ["1", "2"]).then_some(()));
    story.credit(3);
    wait_for("what is new", || (story.bookings_told() == ["1", "2", "3"]).then_some(()));
    assert!(story.log().contains("server ended the run; starting a new one"), "{}", story.log());
    assert!(process.0.try_wait().unwrap().is_none(), "{}", story.log());
}

/// One stands still while much happens to it; the other one does not notice.
#[test]
fn one_that_stands_still_while_its_events_flow_holds_nobody_up() {
    let story = Story::begin(&[("strategies.hangSeconds", "600"), ("demo.activity", "busy")]);
    let stuck = story.run("reporter");
    story.until("its order", |client| open_orders(client, "REPORTER") == 1);
    signal(&stuck, "STOP");
    (1..=300).for_each(|dollars| story.credit(dollars));
    let _steady = story.run("steady");
    story.until_phase("STEADY", "RUN");
    story.until("its order", |client| open_orders(client, "STEADY") == 1);
    signal(&stuck, "CONT");
    let told: Vec<String> = (1..=300).map(|dollars: u32| dollars.to_string()).collect();
    wait_for("all bookings, once", || (story.bookings_told() == told).then_some(()));
}

/// What a process was told stands in the server's journal, as if the strategy had lived there.
#[test]
fn strategies_in_processes_ask_for_the_same_again() {
    let story = Story::begin(&[("journal.ticks", "all"), ("demo.activity", "busy")]);
    let proxy = CuttableProxy::to(story.server.port_address("brokerTcp"));
    let members = ["market-making", "steady"];
    let maker = story.run_at("market-making", signpost(&Arc::new(Mutex::new(proxy.address()))));
    let mut steady = story.run("steady");
    let fills = |client: &mut HttpClient| {
        json(client, "/rest/history/order?strategy=MARKET-MAKING&limit=1000").to_string().matches("EXECUTED").count()
    };
    story.until("a fill", |client| fills(client) >= 1);
    proxy.cut();
    proxy.restore();
    let before = orders_ever(&mut story.server.client(), "MARKET-MAKING");
    story.until("a quote after the cut", |client| orders_ever(client, "MARKET-MAKING") > before);
    terminate(&steady);
    assert_eq!(ended(&mut steady), Some(0), "{}", story.log());
    drop(maker);
    let Story { server, launch, folder } = story;
    server.stop();
    let instances = members.map(|member| format!("{}:{member} security=1", member.to_uppercase())).join(",");
    let data = folder.path().join("data");
    let again = ["simulate", "--from-journal", data.to_str().unwrap(), "--strategies"];
    let told = launch.run(&[&again[..], &["--set", &format!("strategies.instances={instances}")]].concat());
    assert_eq!(told.code, Some(0), "{told}");
    assert!(!told.output.contains("\n0 commands of strategies came out the same"), "{told}");
    assert!(!told.output.contains("were not recorded"), "{told}");
}

#[test]
fn a_server_without_the_mode_lets_no_process_in() {
    let story = Story::begin(&[("strategies.distributed", "false")]);
    let mut process = story.run("steady");
    assert_eq!(ended(&mut process), Some(1), "{}", story.log());
}
