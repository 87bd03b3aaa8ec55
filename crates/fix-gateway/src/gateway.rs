//! Gateway: sessions, listener, and the commands of operators.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use access::Access;
use bus::operations::{FixAct, FixSession, FixTrouble};
use bus::{Bus, Ledger};
use domain::Timestamp;
use fix::{CancelOnDisconnect, Conversation, Dictionary, Session, SessionSettings, Time};
use fix_net::{Acceptor, Clock, Doorman, Mailbox, Secure, mailbox, run_session};
use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::house::House;
use crate::ledger::{LedgerStore, Pen};
use crate::limits::STOP_SECONDS;
use crate::session::{Absent, Board, Claim, Desk, Knock, MessageLog, Switchboard, Waits, look_after};
use crate::settings::Sessions;
use crate::words::ExecIds;

/// The dependencies of the gateway.
pub struct Parts {
    pub bus: Bus,
    pub ledger: Arc<dyn Ledger>,
    pub access: Arc<Access>,
    /// Of the data folder; ids of reports are made with it.
    pub instance: u64,
    /// The platform's clock: sessions are stamped, checked and scheduled by it, as everything else is.
    pub clock: Arc<dyn Fn() -> Timestamp + Send + Sync>,
}

pub struct Gateway {
    house: Arc<House>,
    sessions: Vec<Opened>,
    boards: Arc<Vec<Arc<Board>>>,
}

/// A session whose task is not started yet.
struct Opened {
    board: Arc<Board>,
    dictionary: Option<Arc<Dictionary>>,
    mailbox: Mailbox,
    log: MessageLog,
}

impl Gateway {
    /// Restores every session from its store.
    pub fn open(parts: Parts, sessions: &Sessions) -> Result<Self, String> {
        let Parts { bus, ledger, access, instance, clock } = parts;
        let shapes = Dictionary::fix44_with_extensions();
        let clock = Clock::new(move || Time::from_nanos(clock().0));
        let house = House { bus, access, clock, ids: ExecIds(instance), switchboard: Switchboard::default(), shapes };
        let open = |(settings, dictionary): &(Arc<SessionSettings>, Option<Arc<Dictionary>>)| {
            let pen = Pen::open(ledger.clone(), &settings.id, house.clock.now())?;
            let log = MessageLog::open(sessions.log_folder(settings).as_deref(), &settings.id);
            let log = log.map_err(|error| format!("the message log of {}: {error}", settings.id))?;
            let (handle, mailbox) = mailbox();
            let board = Arc::new(Board::new(settings.clone(), handle, pen));
            Ok(Opened { board, dictionary: dictionary.clone(), mailbox, log })
        };
        let opened: Result<Vec<_>, String> = sessions.all.iter().map(open).collect();
        let opened = opened?;
        let boards = Arc::new(opened.iter().map(|session| session.board.clone()).collect());
        Ok(Self { house: Arc::new(house), sessions: opened, boards })
    }

    pub fn operators(&self, runtime: Handle) -> Operators {
        Operators { boards: self.boards.clone(), clock: self.house.clock.clone(), runtime }
    }

    /// Serves until `shutdown` is ready; then every client is logged out.
    pub async fn serve(
        self,
        (listener, secure): (TcpListener, Option<Secure>),
        callers_max: usize,
        shutdown: impl Future<Output = ()> + Send,
    ) -> io::Result<()> {
        let (stop, stopping) = watch::channel(false);
        let board = |session: &Opened| (session.board.settings.clone(), session.board.handle.clone());
        let acceptor = Acceptor::new(listener, self.sessions.iter().map(board).collect::<Vec<_>>(), secure);
        let acceptor =
            acceptor.with_callers_max(callers_max).with_doorman(doorman(self.house.clone(), self.boards.clone()));
        let ears = tokio::spawn(self.house.switchboard.clone().run(self.house.bus.feed.clone()));
        let mut tasks = JoinSet::new();
        for session in self.sessions {
            tasks.spawn(session.serve(self.house.clone(), stopping.clone()));
        }
        tasks.spawn(acceptor.run(stopping));
        shutdown.await;
        stop.send_replace(true);
        let all_gone = timeout(Duration::from_secs(STOP_SECONDS), async { while tasks.join_next().await.is_some() {} });
        if all_gone.await.is_err() {
            tracing::warn!("FIX clients did not answer the Logout in time; connections are closed");
        }
        ears.abort();
        Ok(())
    }
}

/// A session accepts one connection: the logon is authenticated before the connection slot is taken.
fn doorman(house: Arc<House>, boards: Arc<Vec<Arc<Board>>>) -> Doorman {
    Arc::new(move |id, peer, message| {
        let board = boards.iter().find(|board| board.settings.id == *id).filter(|_| message.msg_type() == b"A");
        let knocking = board.map(|board| {
            let knock = Knock::at(board, house.access.clone(), Some(peer));
            knock.introduction(Claim::of(message), board.clone())
        });
        Box::pin(async move {
            match knocking {
                Some(knocking) => Some(knocking.await),
                None => None,
            }
        })
    })
}

impl Opened {
    async fn serve(self, house: Arc<House>, stopping: watch::Receiver<bool>) {
        let Self { board, dictionary, mailbox, log } = self;
        let settings = board.settings.clone();
        let (here, present) = watch::channel(false);
        let waits = Waits::default();
        if settings.gateway.cancel_on_disconnect != CancelOnDisconnect::Off {
            let comp_id = settings.id.target.as_str().into();
            let absent = Absent { inbox: house.bus.inbox.clone(), comp_id, waits: waits.clone() };
            tokio::spawn(look_after(absent, settings.gateway.clone(), present));
        }
        let session = Session::new(settings, dictionary, LedgerStore(board.pen.clone()));
        let clock = house.clock.clone();
        let desk = Desk::new(house, board, log, here, waits);
        run_session(Conversation::new(session, desk), mailbox, None, clock, stopping).await;
    }
}

/// Sessions for operators: status and commands.
#[derive(Clone)]
pub struct Operators {
    boards: Arc<Vec<Arc<Board>>>,
    clock: Clock,
    runtime: Handle,
}

impl Operators {
    pub fn sessions(&self) -> Vec<FixSession> {
        self.boards.iter().map(|board| board.show(self.clock.now())).collect()
    }

    /// Blocks until it is done, and so must not be called by a thread of a runtime.
    pub fn act(&self, id: &str, act: FixAct) -> Result<(), FixTrouble> {
        let board = self.boards.iter().find(|board| board.id() == id).ok_or(FixTrouble::Unknown)?;
        board.act(act, &self.runtime)
    }
}
