//! Kill switch of a follower: SIGUSR1 and the file `kill` go to the leader, which trades. What the leader did not do is tried again, and done
//! here where this member leads first.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use bus::CommandForwarder;
use bus::forwarding::{ForwardedRequest, ForwardingError};
use tokio::sync::watch;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{error, warn};

use super::command_forwarding::FORWARDED_KILL;
use crate::control::{KILL_FILE, KILL_FILE_DONE, KILL_FILE_EVERY, Signals};

/// A leader that has not taken the kill by then does not begin with it any more; the operator is told, and it is sent again.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
/// No path of the REST interface: a leader of an older build refuses it.
const KILL_PATH: &str = "/forwarded-kill";
const DONE: u16 = 200;

/// The thread that watches while this member follows.
pub(crate) struct FollowerKill {
    stop: watch::Sender<()>,
    thread: JoinHandle<Signals>,
}

/// What the thread watches, and the way to the leader.
pub(crate) struct KillWatch {
    folder: PathBuf,
    /// A signal that the leader has not obeyed stays here.
    signals: Signals,
    member: String,
    leader: Arc<dyn CommandForwarder>,
    /// Why the last attempt for each cause failed: the same reason is told once.
    told: BTreeMap<String, String>,
}

impl FollowerKill {
    pub(crate) fn start(mut watch: KillWatch) -> io::Result<Self> {
        let (stop, mut stopped) = watch::channel(());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let run = move || {
            runtime.block_on(async {
                tokio::select! {
                    () = watch.run() => {},
                    _ = stopped.changed() => {},
                }
            });
            watch.signals
        };
        let thread = std::thread::Builder::new().name("follower-kill".into()).spawn(run)?;
        Ok(Self { stop, thread })
    }

    /// The signals, for the control of a leader; one that no leader has obeyed is among them. None where the thread died.
    pub(crate) fn end(self) -> Option<Signals> {
        drop(self.stop);
        self.thread.join().ok()
    }
}

impl KillWatch {
    pub(crate) fn new(folder: PathBuf, signals: Signals, member: &str, leader: Arc<dyn CommandForwarder>) -> Self {
        Self { folder, signals, member: member.to_owned(), leader, told: BTreeMap::new() }
    }

    async fn run(&mut self) {
        let mut looks = interval(KILL_FILE_EVERY);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            self.look().await;
        }
    }

    async fn look(&mut self) {
        if !self.signals.is_empty() && self.kill_at_leader("SIGUSR1").await {
            // Only now: until then this member may lead, and must do it itself.
            let _ = self.signals.try_recv();
        }
        let file = self.folder.join(KILL_FILE);
        if file.exists()
            && self.kill_at_leader("the file kill").await
            && let Err(error) = fs::rename(&file, self.folder.join(KILL_FILE_DONE))
        {
            warn!(%error, "the file {KILL_FILE} can't be renamed to {KILL_FILE_DONE}: it is obeyed again and again");
        }
    }

    /// Whether the leader has done it.
    async fn kill_at_leader(&mut self, cause: &str) -> bool {
        let request = ForwardedRequest {
            method: FORWARDED_KILL.to_owned(),
            path: KILL_PATH.to_owned(),
            body: format!("{cause} at member {}", self.member).into_bytes(),
            ..ForwardedRequest::default()
        };
        if !self.told.contains_key(cause) {
            warn!("{cause}: this member follows, so the leader is asked to kill everything");
        }
        let failure = match self.leader.forward(request, KILL_PATIENCE).await {
            Ok(answer) if answer.status == DONE => {
                let done = String::from_utf8_lossy(&answer.body);
                warn!("{cause}: the leader has killed everything: {done}");
                self.told.remove(cause);
                return true;
            }
            Ok(answer) => format!("the leader refused it: {}", String::from_utf8_lossy(&answer.body)),
            Err(ForwardingError::NotTaken(reason)) => reason,
            Err(ForwardingError::Unanswered) => "the leader gave no answer, so it may have done it or not".to_owned(),
        };
        self.tell(cause, failure);
        false
    }

    fn tell(&mut self, cause: &str, failure: String) {
        if self.told.get(cause) != Some(&failure) {
            error!(
                reason = failure,
                "{cause}: NOT KILLED. Call rialto kill beside the leader, or send SIGUSR1 to it. This member asks the leader again \
                 until it has done it, and does it itself where it leads first"
            );
            self.told.insert(cause.to_owned(), failure);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use bus::forwarding::{ForwardedResponse, ForwardingFuture};
    use tokio::sync::mpsc::{Sender, channel};

    use super::*;

    type LeaderAnswer = Result<ForwardedResponse, ForwardingError>;

    /// A leader with these answers, the last one first.
    struct AnsweringLeader {
        answers: Mutex<Vec<LeaderAnswer>>,
        asked: Mutex<Vec<(String, String)>>,
    }

    impl CommandForwarder for AnsweringLeader {
        fn forward(&self, request: ForwardedRequest, _: Duration) -> ForwardingFuture<'_> {
            let body = String::from_utf8(request.body).unwrap();
            self.asked.lock().unwrap().push((request.method, body));
            let answer = self.answers.lock().unwrap().pop().unwrap();
            Box::pin(async move { answer })
        }
    }

    fn answer(status: u16) -> LeaderAnswer {
        Ok(ForwardedResponse { status, ..ForwardedResponse::default() })
    }

    fn watch(folder: &tempfile::TempDir, answers: Vec<LeaderAnswer>) -> (KillWatch, Arc<AnsweringLeader>, Sender<()>) {
        let leader = Arc::new(AnsweringLeader { answers: Mutex::new(answers), asked: Mutex::default() });
        let (sender, signals) = channel(1);
        (KillWatch::new(folder.path().to_owned(), signals, "b", leader.clone()), leader, sender)
    }

    fn asked(leader: &AnsweringLeader) -> Vec<(String, String)> {
        leader.asked.lock().unwrap().clone()
    }

    #[tokio::test]
    async fn a_signal_is_kept_until_the_leader_has_obeyed_it_once() {
        let folder = tempfile::tempdir().unwrap();
        let answers = vec![answer(200), answer(503), Err(ForwardingError::NotTaken("no member leads yet".into()))];
        let (mut watch, leader, sender) = watch(&folder, answers);
        watch.look().await;
        assert_eq!(asked(&leader), [], "nobody has sent one");
        sender.send(()).await.unwrap();
        for _ in 0..2 {
            watch.look().await;
            assert!(!watch.signals.is_empty(), "a member that leads now has it");
        }
        watch.look().await;
        assert!(watch.signals.is_empty());
        watch.look().await;
        let kill = ("KILL".to_owned(), "SIGUSR1 at member b".to_owned());
        assert_eq!(asked(&leader), [kill.clone(), kill.clone(), kill]);
    }

    #[tokio::test]
    async fn the_file_is_put_away_when_the_leader_has_obeyed_it() {
        let folder = tempfile::tempdir().unwrap();
        let (mut watch, leader, _sender) = watch(&folder, vec![answer(200), Err(ForwardingError::Unanswered)]);
        fs::write(folder.path().join(KILL_FILE), "").unwrap();
        watch.look().await;
        assert!(folder.path().join(KILL_FILE).exists(), "whether it was done is not known");
        watch.look().await;
        assert!(folder.path().join(KILL_FILE_DONE).exists() && !folder.path().join(KILL_FILE).exists());
        watch.look().await;
        assert_eq!(asked(&leader).len(), 2);
    }

    #[test]
    fn a_leader_gets_the_signal_that_nobody_has_obeyed() {
        let folder = tempfile::tempdir().unwrap();
        let (watch, _, sender) = watch(&folder, (0..1_000).map(|_| Err(ForwardingError::Unanswered)).collect());
        sender.try_send(()).unwrap();
        let mut signals = FollowerKill::start(watch).unwrap().end().unwrap();
        assert!(signals.try_recv().is_ok());
    }
}
