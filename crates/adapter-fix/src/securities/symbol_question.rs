//! What a venue lists, asked for now: over a session for market data of its own. Where its numbers begin at 1 with each log-on they are kept
//! nowhere; where they go on, those of the server go on.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use adapters::thread::AdapterClock;
use adapters::venue_type::ListedSymbol;
use crossbeam_channel::bounded;
use fix::FixDecoder;

use crate::dialect::{Dialect, SecurityListRules};
use crate::message_check::MessageCheck;
use crate::requests::utc;
use crate::securities::security_list::{SecurityList, SecurityListRow, SecurityListStep};
use crate::sessions::NumberPlace;
use crate::sessions::number_store::SharedNumbers;
use crate::sessions::session::SessionPlan;
use crate::sessions::session_runtime::SessionRuntime;
use crate::sessions::side_session::{SideSession, SideSessionEvent};

/// A venue that has not sent its list after this is given up.
const WAIT_MAX: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(200);

/// Logs on, asks and logs out; a question that cannot be asked is refused before. `server_numbers` is where the server has the numbers of
/// that session.
pub(crate) fn ask_for_symbols(
    dialect: &Dialect,
    rules: SecurityListRules,
    plan: SessionPlan,
    server_numbers: &Path,
    clock: &AdapterClock,
) -> Result<Vec<ListedSymbol>, String> {
    let question = SecurityList::new(rules.clone(), 0).request();
    MessageCheck::new(dialect).check(&question).map_err(|refusal| refusal.to_string())?;
    let resets = dialect.market_data.as_ref().is_none_or(|prices| prices.reset_on_logon);
    let file = if resets { scratch_file(&plan) } else { server_numbers.to_owned() };
    let failed = |error: io::Error| format!("{}: {error}", file.display());
    file.parent().map_or(Ok(()), std::fs::create_dir_all).map_err(failed)?;
    let numbers = SharedNumbers::open(&NumberPlace::file(file.clone()), utc(clock())).map_err(failed)?;
    let mut dialect = dialect.clone();
    dialect.session.reset_on_logon = resets;
    let session = SideSession::new(dialect, plan, numbers.clone(), 0);
    let answer = ask(session, SecurityList::new(rules, 0), clock);
    if resets {
        // The next question begins at 1 too.
        let _ = std::fs::remove_file(&file);
    } else {
        numbers.confirm_all().map_err(failed)?;
    }
    answer
}

fn scratch_file(plan: &SessionPlan) -> PathBuf {
    let name = format!("rialto-symbols-{}-{}.numbers", std::process::id(), plan.port);
    std::env::temp_dir().join(name)
}

fn ask(mut session: SideSession, mut list: SecurityList, clock: &AdapterClock) -> Result<Vec<ListedSymbol>, String> {
    let runtime = SessionRuntime::threaded().map_err(|error| error.to_string())?;
    let (wake, woken) = bounded(1);
    let (begun, mut problem) = (Instant::now(), "the venue did not answer".to_owned());
    let mut answer = None;
    while answer.is_none() && begun.elapsed() < WAIT_MAX {
        for event in session.poll(&runtime, &wake, clock()) {
            match event {
                SideSessionEvent::Up => drop(session.send(list.request())),
                SideSessionEvent::Down(reason) => problem = reason,
                SideSessionEvent::Skipped | SideSessionEvent::Reset { .. } => {}
                SideSessionEvent::Message(frame) => answer = answer.or(step(&mut list, &frame)),
            }
        }
        let _ = woken.recv_timeout(POLL);
    }
    session.end(&runtime);
    answer.unwrap_or(Err(problem))
}

fn step(list: &mut SecurityList, frame: &[u8]) -> Option<Result<Vec<ListedSymbol>, String>> {
    let mut decoder = FixDecoder::new();
    match list.on_message(&decoder.decode(frame).ok()?) {
        SecurityListStep::Nothing => None,
        SecurityListStep::Refused(reason) => Some(Err(reason)),
        SecurityListStep::Changed => Some(Ok(list.securities().map(symbol).collect())),
    }
}

fn symbol(listed: &SecurityListRow) -> ListedSymbol {
    ListedSymbol {
        symbol: listed.symbol.clone(),
        base: listed.base.clone().unwrap_or_else(|| listed.symbol.clone()),
        quote: listed.quote.clone().unwrap_or("".into()),
        listing: listed.listing,
    }
}
