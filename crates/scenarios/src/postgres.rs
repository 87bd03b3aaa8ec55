//! A PostgreSQL of its own: from Debian's programs, in a folder of the test, on a free port of loopback. The machine's own
//! clusters are not touched. The programs refuse to run as root, so root runs them as the user `postgres`.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use crate::wait::{DEADLINE, poll};

/// Stands in no output of ours.
pub const PASSWORD: &str = "planted-Pa55word";
const USER: &str = "desk";
const DATABASE: &str = "postgres";

/// A server on a folder; it can be stopped and started again.
pub struct PostgresServer {
    folder: PathBuf,
    port: u16,
    process: Option<Child>,
}

impl PostgresServer {
    /// Creates a cluster in an empty folder and starts it.
    ///
    /// # Panics
    /// Where PostgreSQL is not installed (`make setup` does it) or does not start.
    pub fn create(folder: &Path) -> Self {
        fs::write(folder.join("password"), PASSWORD).expect("the folder can be written");
        if is_root() {
            run(Command::new("chown").arg("-R").arg("postgres:").arg(folder));
        }
        let (cluster, password) = (text(&folder.join("cluster")), text(&folder.join("password")));
        let mut create = Self::command("initdb");
        create.args(["-D", &cluster, "-U", USER, "-A", "scram-sha-256", "--pwfile", &password]);
        run(create.args(["-E", "UTF8", "--locale=C.UTF-8", "--no-sync"]));
        let mut server = Self { folder: folder.to_owned(), port: 0, process: None };
        server.start_on_free_port();
        server
    }

    /// Another program may take a port between the time when it was seen free and the start.
    fn start_on_free_port(&mut self) {
        let look = &mut || {
            self.port = free_port();
            self.try_start().then_some(())
        };
        assert!(poll(DEADLINE, look).is_some(), "PostgreSQL does not start: {}", self.log());
    }

    /// Its address as `history.store` takes it.
    pub fn url(&self) -> String {
        format!("postgres://{USER}:{PASSWORD}@127.0.0.1:{}/{DATABASE}?sslmode=disable", self.port)
    }

    /// Starts it again, on the same port.
    ///
    /// # Panics
    /// Where it does not start.
    pub fn start(&mut self) {
        let look = &mut || self.try_start().then_some(());
        assert!(poll(DEADLINE, look).is_some(), "PostgreSQL does not start: {}", self.log());
    }

    /// Returns when it answers, or has ended instead.
    fn try_start(&mut self) -> bool {
        let mut child = self.spawn();
        let look = &mut || match child.try_wait().expect("a child can be waited for") {
            Some(_) => Some(false),
            None => self.try_query("SELECT 1").map(|_| true),
        };
        let is_started = poll(DEADLINE, look);
        self.process = Some(child).filter(|_| is_started != Some(false));
        assert!(is_started.is_some(), "PostgreSQL does not answer: {}", self.log());
        self.process.is_some()
    }

    fn spawn(&self) -> Child {
        let (cluster, port) = (text(&self.folder.join("cluster")), self.port.to_string());
        let mut server = Self::command("postgres");
        server.args(["-D", &cluster, "-k", &text(&self.folder), "-p", &port]);
        // Nothing here has to survive a power cut.
        server.args(["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=40"]);
        let log = fs::File::options().create(true).append(true).open(self.folder.join("log"));
        server.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log.expect("the folder can be written"));
        server.spawn().expect("PostgreSQL can be started")
    }

    /// As `pg_ctl stop -m fast`: connections end, and nothing is lost.
    ///
    /// # Panics
    /// Where it does not end.
    pub fn stop(&mut self) {
        let Some(mut child) = self.process.take() else { return };
        run(Command::new("sh").args(["-c", "kill -INT \"$0\"", &child.id().to_string()]));
        let look = &mut || child.try_wait().expect("a child can be waited for");
        assert!(poll(DEADLINE, look).is_some(), "PostgreSQL does not end: {}", self.log());
    }

    /// What `psql` prints for a statement, without headings.
    ///
    /// # Panics
    /// Where the statement fails.
    pub fn query(&self, statement: &str) -> String {
        let output = self.psql(statement);
        assert!(output.status.success(), "{statement}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn try_query(&self, statement: &str) -> Option<String> {
        TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).ok()?;
        let output = self.psql(statement);
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }

    fn psql(&self, statement: &str) -> Output {
        let port = self.port.to_string();
        let words =
            ["-X", "-A", "-t", "-q", "-h", "127.0.0.1", "-p", &port, "-U", USER, "-d", DATABASE, "-c", statement];
        let mut psql = Command::new("psql");
        psql.args(words).env("PGPASSWORD", PASSWORD).env("PGOPTIONS", "-c search_path=rialto");
        psql.output().expect("psql is installed: make setup")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    /// A program of the newest version that is installed.
    fn command(program: &str) -> Command {
        let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
        let mut found: Vec<_> = versions.map(|version| version.path().join("bin").join(program)).collect();
        found.retain(|path| path.is_file());
        found.sort();
        let path = found.pop().expect("PostgreSQL is installed: make setup");
        if !is_root() {
            return Command::new(path);
        }
        let mut command = Command::new("setpriv");
        command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(path).current_dir("/");
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let Some(mut child) = self.process.take() else { return };
        // An immediate shutdown: its processes end with it, and the folder is deleted.
        drop(Command::new("sh").args(["-c", "kill -QUIT \"$0\"", &child.id().to_string()]).status());
        drop(child.wait());
    }
}

fn free_port() -> u16 {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|listener| listener.local_addr());
    taken.expect("there is a free port").port()
}

/// Files of a process belong to its user.
fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0)
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?} can't be started: {error}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}
