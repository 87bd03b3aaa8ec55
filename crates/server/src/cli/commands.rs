//! What each command does.

use std::io::{self, Write};
use std::path::Path;

use storage::{Loss, StorageError, journal};

use crate::backup::arguments::{BackupArgs, RestoreArgs, RestoredIdentity};
use crate::cli::arguments::{CliCommand, JournalCommand, TokenCommand, UserCommand};
use crate::cli::strategy_commands::{self, StrategyCommand};
use crate::cli::user_admin::UserAdmin;
use crate::cli::{accept_loss, fix_command, remote_import, strategy_template, user_admin};
use crate::cluster::cluster_file::{self, ClusterConfig};
use crate::cluster::ha_command;
use crate::config::{Config, ConfigArgs, show};
use crate::data_dir::identity::DataDirIdentity;
use crate::data_dir::server_file::{self, ServerEndpoint};
use crate::data_dir::traces::Traces;
use crate::data_dir::{DataDir, private};
use crate::exit_failure::{Exit, ExitFailure};
use crate::tls::CertificateSource;
use crate::venues::venue_command::VenueCommand;
use crate::venues::venues_command::{self, VenuesCommand};
use crate::venues::{venue_bars, venue_check, venue_command, venue_symbols};
use crate::{backup, compose, control, distributed, logging, reference, simulate};

pub fn execute(command: CliCommand, strategies: strategy::StrategyRegistry) -> Result<(), ExitFailure> {
    if writes_data(&command) {
        private::create_for_owner_only();
    }
    match command {
        CliCommand::Serve { config, ui_dir, distributed, cluster } => {
            serve(config.with_screen(ui_dir).with_processes(distributed), cluster.as_deref(), strategies)
        }
        CliCommand::Import { folder, config } => import(&load_and_log(config)?, &folder),
        CliCommand::CheckConfig(arguments) => print(&check_config(&load(arguments)?, &strategies)?),
        CliCommand::SampleConfig => print(&show::sample()),
        CliCommand::SampleCluster => print(cluster_file::SAMPLE),
        CliCommand::Journal(JournalCommand::Verify(arguments)) => verify(&load_and_log(arguments)?),
        CliCommand::Journal(JournalCommand::Archive { keep, config }) => {
            print(&backup::archive(&load_and_log(config)?, keep)?)
        }
        CliCommand::Journal(JournalCommand::Prune { backup, config, .. }) => {
            print(&backup::retention::prune(&load_and_log(config)?, backup.as_deref())?)
        }
        CliCommand::Journal(JournalCommand::AcceptLoss { up_to, config }) => {
            print(&accept_loss::accept(&load_and_log(config)?, up_to)?)
        }
        CliCommand::Backup(BackupArgs { folder, verify, config }) => {
            print(&backup::back_up(&load_and_log(config)?, &folder, verify)?)
        }
        CliCommand::Restore(RestoreArgs { folder, to, same_instance, as_member, config }) => {
            let identity = RestoredIdentity::of_flags(same_instance, as_member);
            print(&backup::restore(&load_and_log(config)?, &folder, to, identity)?)
        }
        CliCommand::Kill { scope, reason, config } => {
            print(&control::client::kill(&load(config)?.data_dir, scope, reason)?)
        }
        CliCommand::Status(config) => status(&load(config)?.data_dir),
        CliCommand::Simulate(arguments) => print(&simulate::execute(*arguments, &strategies)?),
        CliCommand::Strategy(command) => strategy(command, &strategies),
        CliCommand::Ha(command) => print(&ha_command::execute(command)?),
        CliCommand::User(command) => user(command),
        CliCommand::Token(command) => token(command),
        CliCommand::Venues(VenuesCommand::List(config)) => print(&venues_command::list(&load(config)?)),
        CliCommand::Venues(VenuesCommand::Check(arguments)) => venue_check::check(*arguments),
        CliCommand::Venues(VenuesCommand::Symbols(arguments)) => print(&venue_symbols::execute(*arguments)?),
        CliCommand::Venues(VenuesCommand::Bars(arguments)) => venue_bars::execute(*arguments),
        CliCommand::Fix(command) => fix_command::execute(command, print),
        CliCommand::Venue(VenueCommand::Serve { config, demo, data_dir, set }) => {
            venue_command::serve(config.as_deref(), demo, &data_dir, &set)
        }
        CliCommand::Venue(VenueCommand::Certify { client, faults, seed, timeout, report }) => {
            let faults = faults.into_iter().filter(|fault| fault != "all").collect();
            let timeout = std::time::Duration::from_secs(timeout);
            venue_command::certify(&venue_lab::CertifyRequest { client, faults, seed, timeout, folder: report })
        }
    }
}

fn serve(
    config: ConfigArgs,
    cluster: Option<&Path>,
    strategies: strategy::StrategyRegistry,
) -> Result<(), ExitFailure> {
    // Read first: a mistake in it leaves no trace.
    let cluster = cluster.map(ClusterConfig::read).transpose()?;
    let config = load_and_log(config)?;
    match cluster {
        Some(cluster) => compose::serve_cluster(&config, strategies, &cluster),
        None => compose::serve(&config, strategies),
    }
}

/// Whether it creates files in the data folder.
fn writes_data(command: &CliCommand) -> bool {
    match command {
        CliCommand::Serve { .. }
        | CliCommand::Import { .. }
        | CliCommand::Backup(_)
        | CliCommand::Restore(_)
        | CliCommand::User(_)
        | CliCommand::Token(_)
        | CliCommand::Venue(_) => true,
        CliCommand::Journal(command) => !matches!(command, JournalCommand::Verify(_)),
        CliCommand::Venues(command) => matches!(command, VenuesCommand::Check(_) | VenuesCommand::Bars(_)),
        CliCommand::CheckConfig(_)
        | CliCommand::SampleConfig
        | CliCommand::SampleCluster
        | CliCommand::Kill { .. }
        | CliCommand::Status(_)
        | CliCommand::Simulate(_)
        | CliCommand::Strategy(_)
        | CliCommand::Ha(_)
        | CliCommand::Fix(_) => false,
    }
}

fn status(folder: &Path) -> Result<(), ExitFailure> {
    let status = control::client::status(folder)?;
    print(&status.to_string())?;
    if status.ready { Ok(()) } else { Err(ExitFailure::new(Exit::Failed, "the server is not ready")) }
}

fn strategy(command: StrategyCommand, strategies: &strategy::StrategyRegistry) -> Result<(), ExitFailure> {
    match command {
        StrategyCommand::List => print(&strategy_commands::list(strategies)),
        StrategyCommand::New { name, rialto } => print(&strategy_template::create(Path::new("."), &name, &rialto)?),
        StrategyCommand::Run { name, server, take_over, config } => {
            distributed::run(&load_and_log(config)?, strategies, &name, server.as_deref(), take_over)
        }
    }
}

fn user(command: UserCommand) -> Result<(), ExitFailure> {
    match command {
        UserCommand::Add { name, role, replace, config } => {
            print(&UserAdmin(&load(config)?).add_user(&name, &role, replace, user_admin::read_password)?)
        }
        UserCommand::Rights { name, rights, config } => {
            print(&UserAdmin(&load(config)?).set_user_rights(&name, &rights)?)
        }
        UserCommand::List(config) => print(&UserAdmin(&load(config)?).list_users()?),
        UserCommand::Remove { name, config } => print(&UserAdmin(&load(config)?).remove_user(&name)?),
    }
}

fn token(command: TokenCommand) -> Result<(), ExitFailure> {
    match command {
        TokenCommand::New { name, role, days, config } => {
            let (token, note) = UserAdmin(&load(config)?).new_token(&name, &role, days)?;
            eprintln!("{note}");
            print(&format!("{token}\n"))
        }
        TokenCommand::Rights { name, rights, config } => {
            print(&UserAdmin(&load(config)?).set_token_rights(&name, &rights)?)
        }
        TokenCommand::List(config) => print(&UserAdmin(&load(config)?).list_tokens()?),
        TokenCommand::Revoke { name, config } => print(&UserAdmin(&load(config)?).revoke_token(&name)?),
    }
}

fn load(arguments: ConfigArgs) -> Result<Config, ExitFailure> {
    Config::load(&arguments.into_sources()).map_err(|problems| ExitFailure::configuration(&problems))
}

/// The configuration of a command that logs.
fn load_and_log(arguments: ConfigArgs) -> Result<Config, ExitFailure> {
    let config = load(arguments)?;
    logging::start(&config);
    for notice in &config.effective.notices {
        tracing::warn!("{notice}");
    }
    Ok(config)
}

fn import(config: &Config, folder: &Path) -> Result<(), ExitFailure> {
    let changes = match DataDir::open_for_import(config, folder) {
        Ok(data_dir) => compose::import(config, data_dir)?,
        Err(refused) => match running_server(config, &refused) {
            Some(server) => remote_import::import(config, server, folder)?,
            None => return Err(refused),
        },
    };
    print(&format!("{changes} changes imported\n"))
}

/// The server that holds the folder, where it can be asked.
fn running_server(config: &Config, refused: &ExitFailure) -> Option<ServerEndpoint> {
    server_file::find_endpoint(&config.data_dir).filter(|_| refused.exit == Exit::InUse)
}

/// The configuration as a table, once all that it names could be read.
fn check_config(config: &Config, strategies: &strategy::StrategyRegistry) -> Result<String, ExitFailure> {
    let mut text = config.table();
    text.push('\n');
    for notice in &config.effective.notices {
        text.push_str(&format!("note: {notice}\n"));
    }
    if let Some(path) = &config.reference_path {
        let reference = reference::read(path).map_err(|problems| ExitFailure::reference(&problems))?;
        config.check_venues(&reference.data).map_err(|problems| ExitFailure::configuration(&problems))?;
        config.check_restricted(&reference.data).map_err(|problems| ExitFailure::configuration(&problems))?;
        compose::strategies::check(config, strategies, &reference.data)
            .map_err(|problems| ExitFailure::configuration(&problems))?;
        text.push_str(&format!("reference data: {reference}\n"));
    }
    if let Some(sessions) = compose::servers::fix::check(config)? {
        text.push_str(&sessions);
    }
    CertificateSource::of(config)?.check()?;
    text.push_str("The configuration is good.\n");
    Ok(text)
}

fn verify(config: &Config) -> Result<(), ExitFailure> {
    let report = scan_journal(config)?;
    print(&format!("{report}\n"))?;
    if let Some(damage) = report.damage {
        return Err(StorageError::Damaged(damage).into());
    }
    let (folder, end, known) = (config.data_dir.clone(), report.good.last_sequence, report.known);
    if known.is_empty() { Ok(()) } else { Err(StorageError::Lost(Loss { folder, end, known }).into()) }
}

fn scan_journal(config: &Config) -> Result<journal::VerifyReport, ExitFailure> {
    let folder = config.data_dir.join(journal::FOLDER);
    if !folder.is_dir() {
        return Err(ExitFailure::new(Exit::Refused, format!("there is no journal in {}", folder.display())));
    }
    // ControlRequest first: a server may run, and what they know then is in the journal when it is read.
    let Some(instance) = DataDirIdentity::known(&config.data_dir) else {
        return Ok(journal::verify(&folder, &mut |_| {})?);
    };
    let traces = Traces::read(&config.data_dir, instance.journal_id())?;
    accept_loss::check(&config.data_dir, instance.journal_id(), &traces)
}

/// Prints an answer. A reader that went away early, such as `head`, has had enough.
fn print(text: &str) -> Result<(), ExitFailure> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(ExitFailure::new(Exit::Failed, format!("cannot write to standard output: {error}")))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::config::Sources;

    fn config(set: &[&str]) -> Config {
        let set = set.iter().map(|text| (*text).to_owned()).collect();
        Config::load(&Sources { set, ..Sources::default() }).unwrap()
    }

    fn last_lines(text: &str, count: usize) -> String {
        let lines: Vec<_> = text.lines().collect();
        lines[lines.len() - count..].join("\n")
    }

    #[test]
    fn a_good_configuration_is_shown_with_what_it_names() {
        let text = check_config(&config(&["http.port=0"]), &strategy::samples::registry()).unwrap();
        expect![[r#"
            venues.BETA.faults = not set  (simulated.faults, default)
                  Faults, to certify what trades there.

            reference data: 2 exchanges, 25 families, 33 securities, 3 accounts, 4 strategies, 33 opening quotes
            FIX sessions: the demo's, which the first start writes to data/fix/sessions.cfg
            The configuration is good."#]]
        .assert_eq(&last_lines(&text, 6));
    }

    #[test]
    fn the_fix_sessions_are_read_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("sessions.cfg");
        let checked = |text: &str, set: &[&str]| {
            std::fs::write(&path, text).unwrap();
            let settings = format!("fix.settings={}", path.display());
            let set: Vec<_> = set.iter().copied().chain([settings.as_str()]).collect();
            let outcome = check_config(&config(&set), &strategy::samples::registry());
            let shown = outcome.map(|text| last_lines(&text, 2)).unwrap_or_else(|failure| failure.to_string());
            shown.replace(&folder.path().display().to_string(), "FOLDER")
        };
        let good = fix_gateway::DEMO_SETTINGS.replace("FileLogPath", "FileStorePath");
        expect![[r#"
            FIX sessions: FIX.4.4:RIALTO->CLIENT, FIX.4.4:RIALTO->CLIENT2
            The configuration is good."#]]
        .assert_eq(&checked(&good, &[]));
        expect![[r#"
            the FIX sessions can't be used:
              FOLDER/sessions.cfg line 9: HeartBeatInt is no setting; did you mean HeartBtInt?"#]]
        .assert_eq(&checked(&good.replace("HeartBtInt", "HeartBeatInt"), &[]));
        let elsewhere = good.replace("SocketAcceptPort=9876\n", "");
        expect![[r#"
            the FIX sessions can't be used:
              SocketAcceptPort is missing in the session file, and fix.port is not set"#]]
        .assert_eq(&checked(&elsewhere, &[]));
        expect![[r#"
            FIX sessions: FIX.4.4:RIALTO->CLIENT, FIX.4.4:RIALTO->CLIENT2
            The configuration is good."#]]
        .assert_eq(&checked(&elsewhere, &["fix.port=0"]));
    }

    #[test]
    fn a_venue_for_an_exchange_that_is_not_there_is_refused() {
        let failure =
            check_config(&config(&["simulated.venues=ALPHA:NYSE"]), &strategy::samples::registry()).unwrap_err();
        assert_eq!(failure.exit, Exit::Refused);
        expect![[r#"
            the configuration can't be used:
              simulated.venues, --set: venues.ALPHA.exchange: no exchange has the code 'NYSE' (known: RCM, SMX)"#]]
        .assert_eq(&failure.to_string());
    }

    #[test]
    fn a_folder_without_reference_data_is_refused() {
        let failure = check_config(&config(&["reference.path=nowhere"]), &strategy::samples::registry()).unwrap_err();
        assert_eq!(failure.exit, Exit::Refused);
        expect![[r#"
            the reference data can't be used:
              nowhere/exchanges.csv: cannot be read: No such file or directory (os error 2)
              nowhere/trading-hours.csv: cannot be read: No such file or directory (os error 2)
              nowhere/holidays.csv: cannot be read: No such file or directory (os error 2)
              nowhere/families.csv: cannot be read: No such file or directory (os error 2)
              nowhere/securities.csv: cannot be read: No such file or directory (os error 2)
              nowhere/accounts.csv: cannot be read: No such file or directory (os error 2)
              nowhere/strategies.csv: cannot be read: No such file or directory (os error 2)"#]]
        .assert_eq(&failure.to_string());
    }

    #[test]
    fn a_folder_without_a_journal_can_t_be_verified() {
        let failure = verify(&config(&["data.dir=nowhere"])).unwrap_err();
        assert_eq!(
            (failure.exit, failure.to_string()),
            (Exit::Refused, "there is no journal in nowhere/journal".into())
        );
    }
}
