//! Strategy processes over NATS: no port of the server is open to them, and the users of the NATS servers say who may speak for whom.

use std::fs;
use std::path::Path;

use scenarios::nats::NatsServer;
use scenarios::proxy::CuttableProxy;
use scenarios::wait::wait_for;
use tempfile::TempDir;

use crate::{Story, ended, open_orders, terminate};

/// A user of the server, and one that may speak for REPORTER alone.
const USERS: &str = r#"
authorization {
  users: [
    { user: server, password: s3rver }
    { user: reporter, password: rep0rter, permissions: {
        publish: ["rialto.bus.request.REPORTER"],
        subscribe: ["rialto.bus.delivery.REPORTER.*", "rialto.bus.prices", "rialto.bus.events", "rialto.bus.alive"] } }
  ]
}"#;

struct NatsBus {
    nats: NatsServer,
    folder: TempDir,
}

impl NatsBus {
    fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { nats: NatsServer::start(folder.path(), USERS), folder }
    }

    /// The file of a user that reaches the server there.
    fn file(&self, user: &str, password: &str, address: &str) -> String {
        let path = |name: &str| self.folder.path().join(name);
        write(&path(&format!("{user}.password")), password);
        let text = format!(
            "servers = [{address:?}]\n[login]\nuser = {user:?}\npasswordFile = {:?}\n",
            path(&format!("{user}.password"))
        );
        let file = path(&format!("{user}.toml"));
        write(&file, &text);
        file.display().to_string()
    }
}

fn write(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
}

#[test]
fn a_process_over_nats_trades_goes_on_after_a_cut_of_either_line_and_leaves_in_order() {
    let bus = NatsBus::start();
    let [of_server, of_process] = [(); 2].map(|()| CuttableProxy::to(bus.nats.address().parse().unwrap()));
    let address = |line: &CuttableProxy| line.address().to_string();
    let file = bus.file("server", "s3rver", &address(&of_server));
    let story = Story::begin(&[("strategies.hangSeconds", "20"), ("strategies.nats", &file)]);
    let set = format!("strategies.nats={}", bus.file("reporter", "rep0rter", &address(&of_process)));
    let mut process = story.spawn("reporter", &["--set", &set]);
    story.until("its order", |client| open_orders(client, "REPORTER") == 1);
    story.credit(1);
    wait_for("the first booking", || (story.bookings_told() == ["1"]).then_some(()));
    of_process.cut();
    story.credit(2);
    of_process.restore();
    wait_for("the booking during the cut", || (story.bookings_told() == ["1", "2"]).then_some(()));
    of_server.cut();
    story.credit(3);
    of_server.restore();
    wait_for("the booking during the server's cut", || (story.bookings_told() == ["1", "2", "3"]).then_some(()));
    terminate(&process);
    assert_eq!(ended(&mut process), Some(0), "{}", story.log());
    story.until_phase("REPORTER", "EXIT");
    story.server.stop();
}

#[test]
fn a_user_of_the_nats_servers_speaks_for_its_own_strategy_alone() {
    let bus = NatsBus::start();
    let file = bus.file("server", "s3rver", &bus.nats.address());
    let story = Story::begin(&[("strategies.nats", &file)]);
    let set = format!("strategies.nats={}", bus.file("reporter", "rep0rter", &bus.nats.address()));
    let mut foreign = story.spawn("steady", &["--set", &set]);
    assert_eq!(ended(&mut foreign), Some(1));
    assert!(story.log().to_lowercase().contains("permissions violation"), "{}", story.log());
    let set = format!("strategies.nats={}", bus.file("reporter", "wrong", &bus.nats.address()));
    let mut unknown = story.spawn("reporter", &["--set", &set]);
    assert_eq!(ended(&mut unknown), Some(1));
    assert!(story.log().contains("the NATS servers do not let the member in"), "{}", story.log());
    assert!(!story.log().contains("wrong"), "a password is never logged");
    story.server.stop();
}
