//! One run: simulated time, one queue of what comes next, the platform, its clients and its faults.

mod ending;
mod injection;
mod lab;
mod fix_traffic;
mod http_traffic;
mod stomp_traffic;
mod strategy_turns;
mod journal;
mod links;
mod process_end;
mod read_model_faults;
mod replay_budget;
mod damage;
mod checks;
mod beginning;

use checks::step_news::StepNews;
use replay_budget::ReplayBudget;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::client::SeededClient;
use crate::coverage::Coverage;
use crate::error_codes::no_server_fault;
use crate::faulty_lines::{FlippedBit, HttpLines, Links, VenueLine};
use crate::fix_sessions::FixClient;
use crate::http_clients::HttpReads;
use crate::invariants::books::JournalBooks;
use crate::invariants::broken_invariant::{BrokenInvariant, InvariantResult, broken, ensure};
use crate::invariants::ledgers::order_at_venue;
use crate::invariants::panics::{PANICKED, PanicRecord};
use crate::invariants::progress::CheckProgress;
use crate::invariants::same_state;
use crate::lab_venue::LabMachine;
use crate::machine::{Machine, MachinePlan};
use crate::market::seed_traits::VENUE_COUNT;
use crate::pace::Pace;
use crate::platform::Platform;
use crate::schedule::{DAY, FIX_CLIENTS, Fault, MILLI, SECOND, Step, TRADERS};
use crate::stomp_sessions::StompTraffic;
use crate::submissions::Submissions;
use crate::trace::Trace;
use crate::users::UserTraffic;
use domain::{Event, Instruction, SeededRng};

const MICRO: i64 = 1_000;
const NEVER: i64 = i64::MAX;
/// How long a killed process stays away.
const DOWN: i64 = 500 * MILLI;
/// The longest sleep of the adapter's thread.
const VENUE_SLEEP_MAX: i64 = SECOND;
/// Small, so that every run begins several segments.
const SEGMENT_BYTES: u64 = 32 << 10;
const SEGMENT_MINUTES: i64 = 10;

/// What a run is made of.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub steps: Vec<Step>,
    /// Simulated time in which things may go wrong.
    pub length: i64,
    /// Requests to the venue may take effect seconds after they were sent.
    pub has_late_requests: bool,
    /// The promises are checked after every step that tells somebody something or makes something durable, and not every few seconds only.
    pub is_checked_at_every_step: bool,
    pub is_traced: bool,
}

/// How a run ended.
pub struct RunReport {
    pub hash: String,
    pub violation: Option<BrokenInvariant>,
    pub last_lines: Vec<String>,
    /// What each step of the schedule did, up to the end of the run.
    pub actions: Vec<String>,
    pub coverage: Coverage,
    /// Simulated nanoseconds.
    pub simulated: i64,
}

/// Runs the plan from the beginning to the end or to the first broken promise.
pub fn run(plan: &Plan) -> io::Result<RunReport> {
    let folder = tempfile::Builder::new().prefix("rialto-simulator-").tempdir_in(scratch())?;
    let mut simulation = SimulatedRun::new(plan, folder.path()).map_err(io::Error::other)?;
    let watch = simulation.panics.watch();
    let played = catch_unwind(AssertUnwindSafe(|| simulation.play(&plan.steps, plan.length)));
    drop(watch);
    let played = played.unwrap_or_else(|panic| Err(broken(PANICKED, panic_text(&*panic))));
    // Behind a panic not all of it can be told.
    drop(catch_unwind(AssertUnwindSafe(|| simulation.cover())));
    // What else is broken then follows from the panic.
    let violation = simulation.panics.nothing_panicked().and(played).err();
    if let Some(violation) = &violation {
        simulation.trace.line(format_args!("BROKEN {violation}"));
    }
    let simulated = simulation.machine.clock.steady();
    let SimulatedRun { trace, coverage, .. } = simulation;
    let (hash, last_lines, actions) = (trace.hash(), trace.last_lines(), trace.actions());
    Ok(RunReport { hash, violation, last_lines, actions, coverage, simulated })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
    text.unwrap_or("without a text").to_owned()
}

/// Memory, where the machine offers it as a folder.
fn scratch() -> std::path::PathBuf {
    let memory = std::path::PathBuf::from("/dev/shm");
    if memory.is_dir() { memory } else { std::env::temp_dir() }
}

struct SimulatedRun {
    machine: Machine,
    /// In a place of its own, because every turn hands it on.
    platform: Option<Box<Platform>>,
    clients: Vec<SeededClient>,
    fix_clients: Vec<FixClient>,
    users: UserTraffic,
    trace: Trace,
    coverage: Coverage,
    /// Delays of threads and disks.
    delays: SeededRng,
    /// When what is due next: turn of the loop, commit of the journal, turn of the adapter, start of the process.
    loop_at: i64,
    disk_at: i64,
    venue_at: i64,
    start_at: i64,
    /// When it is looked whether the journal stalls, and when it was seen to do so last.
    look_at: i64,
    stalled_at: Option<i64>,
    /// When the running platform is checked next.
    check_at: i64,
    /// When state and digest of the running platform are compared next.
    check_state_at: i64,
    /// When the running platform is held against the venues' ledgers next.
    check_venues_at: i64,
    /// Where every step is checked: what was told and durable at the last of them.
    step_check: Option<StepNews>,
    /// When the FIX port and its clients have their next turn.
    fix_at: i64,
    /// How far the journal was durable when they were woken last.
    fix_woken_at: u64,
    stomp: StompTraffic,
    strategy_at: i64,
    http_at: i64,
    http_reads: HttpReads,
    http_lines: HttpLines,
    slow_until: i64,
    hanging_until: i64,
    full_until: i64,
    /// Until then a row of the read model cannot be read; none where it is 0.
    bad_row_until: i64,
    /// The input that the row belongs to.
    bad_row: Option<u64>,
    replay_budget: ReplayBudget,
    venue_lines: [VenueLine; VENUE_COUNT],
    /// Where a venue is the lab.
    lab: Option<LabMachine>,
    links: Links,
    /// The bit that flipped and is not found or restored yet.
    flipped: Option<FlippedBit>,
    pace: Pace,
    submissions: Submissions,
    /// The last input before the last orders are cancelled.
    rested: u64,
    /// The journal as far as it was read at the last start, and what of it was checked.
    books: Option<(JournalBooks, CheckProgress)>,
    /// Also those that somebody caught.
    panics: PanicRecord,
}

impl SimulatedRun {
    fn new(plan: &Plan, folder: &std::path::Path) -> Result<Self, String> {
        let minutes = plan.length / (60 * SECOND);
        let segments = u64::try_from(minutes / SEGMENT_MINUTES).unwrap_or(1).clamp(1, 32);
        let (seed, has_late_requests) = (plan.seed, plan.has_late_requests);
        let machine_plan = MachinePlan { seed, has_late_requests, segment_bytes: SEGMENT_BYTES * segments };
        let machine = Machine::new(&machine_plan, folder)?;
        let market = &machine.market;
        let mut clients: Vec<_> =
            (0..=TRADERS).map(|client| SeededClient::new(client, market.clone(), machine.day_end)).collect();
        clients[0].take_over(machine.earlier.as_ref().map_or_else(Vec::new, |earlier| earlier.open_orders()));
        let fix_client = |client| FixClient::new(client, plan.seed, market.clone());
        Ok(Self {
            platform: None,
            clients,
            fix_clients: (0..FIX_CLIENTS).map(fix_client).collect(),
            users: UserTraffic::new(machine.earlier.as_ref().map_or(0, |earlier| earlier.end())),
            trace: Trace::new(plan.is_traced),
            coverage: Coverage::default(),
            delays: SeededRng::new(plan.seed, 2),
            loop_at: NEVER,
            disk_at: NEVER,
            venue_at: NEVER,
            start_at: 0,
            look_at: NEVER,
            stalled_at: None,
            check_at: 0,
            check_state_at: 0,
            check_venues_at: 0,
            step_check: plan.is_checked_at_every_step.then(StepNews::default),
            fix_at: 0,
            fix_woken_at: 0,
            stomp: StompTraffic::new(plan.seed),
            strategy_at: 0,
            http_reads: HttpReads::default(),
            http_lines: HttpLines::new(plan.seed),
            http_at: if machine.traits.has_http() { 0 } else { NEVER },
            slow_until: 0,
            hanging_until: 0,
            full_until: 0,
            bad_row_until: 0,
            bad_row: None,
            replay_budget: ReplayBudget::default(),
            venue_lines: std::array::from_fn(|_| VenueLine::working(plan.seed)),
            lab: LabMachine::of_run(&machine, folder)?,
            links: Links::new(plan.seed),
            flipped: None,
            pace: Pace::default(),
            submissions: Submissions::default(),
            rested: 0,
            books: None,
            panics: PanicRecord::default(),
            machine,
        })
    }

    fn play(&mut self, steps: &[Step], length: i64) -> InvariantResult {
        self.begin_upgrade()?;
        for step in steps {
            self.run_until(step.at)?;
            let lines_before = self.trace.lines();
            let done = self.execute(&step.what);
            self.trace.end_step(lines_before, step);
            done?;
        }
        self.run_until(length)?;
        self.come_to_rest()
    }

    fn now(&self) -> i64 {
        self.machine.clock.steady()
    }

    /// Everything that is due before then.
    fn run_until(&mut self, end: i64) -> InvariantResult {
        loop {
            self.end_faults()?;
            let next = self.loop_at.min(self.disk_at).min(self.venue_at).min(self.start_at).min(self.links.next_due());
            let next = next.min(self.fix_due()).min(self.stomp_due()).min(self.strategy_due()).min(self.http_due());
            let next = next.min(self.lab_due()).min(self.check_at).min(self.look_at);
            if next >= end {
                self.set_time(end);
                return Ok(());
            }
            self.set_time(next);
            self.pace.on_step(next)?;
            self.run_next(next)?;
            self.panics.nothing_panicked()?;
            self.check_step()?;
            self.machine.disk.take_struck().into_iter().for_each(|kind| self.coverage.fault(kind));
        }
    }

    fn set_time(&mut self, at: i64) {
        let day = self.machine.clock.wall() / DAY;
        self.machine.clock.advance_to(at);
        self.trace.set_time(self.now());
        if self.machine.clock.wall() / DAY != day && self.platform.is_some() {
            self.coverage.fault(Fault::DAY_END);
            self.trace.line("midnight: a day ends");
        }
    }

    fn run_next(&mut self, due: i64) -> InvariantResult {
        if self.check_at == due {
            return self.check_running();
        }
        if self.start_at == due {
            return self.start();
        }
        if self.disk_at == due {
            return self.commit();
        }
        if self.look_at == due {
            self.look_at_journal();
            return Ok(());
        }
        if self.venue_at == due {
            return self.step_venue();
        }
        if self.links.next_due() == due {
            self.deliver_late();
            return Ok(());
        }
        if self.loop_at == due {
            return self.step_loop();
        }
        if self.lab_due() == due {
            return self.step_lab();
        }
        if self.fix_due() == due {
            return self.step_fix();
        }
        if self.http_due() == due {
            return self.step_http();
        }
        if self.strategy_due() == due {
            return self.step_strategy();
        }
        self.step_stomp()
    }

    fn delay(&mut self) -> i64 {
        self.delays.between(MICRO, 200 * MICRO)
    }

    fn wake_loop(&mut self) {
        let at = self.now() + self.delay();
        self.loop_at = self.loop_at.min(at);
    }

    fn step_loop(&mut self) -> InvariantResult {
        let Some(platform) = self.platform.take() else {
            self.loop_at = NEVER;
            return Ok(());
        };
        self.pace.on_turn(self.now())?;
        let platform = match platform.step() {
            Ok(platform) => platform,
            Err(exit) => return self.on_exit(&exit),
        };
        self.loop_at = self.now().saturating_add(platform.sleep_nanos().max(MICRO));
        self.platform = Some(platform);
        self.after_work()
    }

    /// Looks at what the last step left: replies, events, writes, instructions.
    fn after_work(&mut self) -> InvariantResult {
        if self.machine.disk.has_ended() {
            return self.end_at_disk();
        }
        self.receive_replies(true)?;
        self.receive_events();
        self.schedule_commit();
        let now = self.now();
        let wake = now + self.delay();
        self.wake_fix(wake);
        if self.wake_stomp() {
            self.wake_strategy();
            self.wake_http(wake);
        }
        let Some(platform) = &mut self.platform else { return Ok(()) };
        let is_waiting = platform.is_started();
        if platform.has_instructions() {
            self.venue_at = self.venue_at.min(wake);
        }
        match platform.go_on_starting() {
            Ok(true) => {
                self.venue_at = now;
                self.apply_venue_faults();
            }
            Ok(false) => {}
            Err(reason) => return self.on_start_refused(&reason),
        }
        if !is_waiting {
            self.loop_at = self.loop_at.min(wake);
        }
        Ok(())
    }

    /// A platform that runs owes every request an answer.
    fn receive_replies(&mut self, is_running: bool) -> InvariantResult {
        let stall = self.stall_seen();
        self.http_reads.receive(is_running, stall)?;
        self.receive_of_users(is_running)?;
        for client in &mut self.clients {
            for (text, outcome) in client.receive() {
                self.trace.line(&text);
                no_server_fault(outcome.code(), || text.clone())?;
                stall.excuses(outcome.code(), || text.clone())?;
                let is_dropped = is_running && outcome.is_without_answer();
                ensure(!is_dropped, "an answer was dropped", || text)?;
            }
        }
        Ok(())
    }

    fn receive_events(&mut self) {
        let Some(platform) = &mut self.platform else { return };
        while let Some(published) = platform.events.try_recv() {
            self.coverage.event(&published.event);
            match &published.event {
                Event::OrderStatus(status) => {
                    let (order, what, filled) = (&status.int_id, status.exec_type, status.filled);
                    self.trace.line(format_args!("{order} {what:?}: {:?}, filled {filled}", status.status));
                }
                Event::Fill(fill) => {
                    let (order, quantity, price, id) = (&fill.int_id, fill.quantity, fill.price, &fill.ext_id);
                    self.trace.line(format_args!("{order} traded {quantity} at {price}, execution {id}"));
                }
                _ => {}
            }
        }
    }

    fn step_venue(&mut self) -> InvariantResult {
        self.venue_at = NEVER;
        let now = self.now();
        let Some(platform) = &mut self.platform else { return Ok(()) };
        let (pace, submissions, durable) = (&mut self.pace, &mut self.submissions, platform.durable());
        let (machine, lab) = (&self.machine, self.lab.as_ref());
        let mut count = |instruction: &Instruction| {
            pace.on_instruction(now, instruction);
            submissions.on_instruction(durable, instruction, |order| order_at_venue(machine, lab, order));
        };
        let due = platform.step_venues(&mut count).map_err(|reason| broken("the adapter stopped", reason))?;
        self.pace.no_storm()?;
        self.venue_at = self.now() + due.clamp(MICRO, VENUE_SLEEP_MAX);
        self.wake_lab();
        self.wake_loop();
        if self.machine.disk.has_ended() {
            return self.end_at_disk();
        }
        Ok(())
    }

    /// The process starts on what the last one left, and everything is compared.
    fn start(&mut self) -> InvariantResult {
        self.start_at = NEVER;
        self.machine.disk.forget_failure();
        self.machine.clock.restart();
        let (platform, found) = match Platform::start(&self.machine) {
            Ok(started) => started,
            Err(reason) => return self.on_start_refused(&reason),
        };
        if self.machine.disk.has_ended() {
            drop(platform);
            return self.end_at_disk();
        }
        let end = found.recovered.last_sequence;
        let (snapshot, replayed) = (found.recovered.snapshot, found.recovered.replayed);
        self.coverage.start(found.torn);
        let state = blake3::hash(&found.state).to_hex();
        self.trace.line(format_args!(
            "the platform starts: journal to {end}, snapshot {snapshot}, {replayed} replayed, state {}",
            &state[..16]
        ));
        let (books, mut progress) = self.read_books(end)?;
        let checked = same_state(&found, &books).and_then(|()| self.check(&books, &mut progress, false));
        self.books = Some((books, progress));
        checked?;
        self.restore_bit()?;
        self.platform = Some(platform);
        self.after_work()?;
        self.wake_loop();
        Ok(())
    }
}
