//! Help texts, and what flags mean.

use clap::CommandFactory;
use expect_test::expect;

use super::*;

fn help_of(path: &[&str]) -> String {
    let mut command = Cli::command();
    command.build();
    let found = path.iter().fold(&mut command, |command, name| command.find_subcommand_mut(name).unwrap());
    found.render_long_help().to_string()
}

#[test]
fn a_newcomer_reads_this() {
    expect![[r#"
            Rialto, an open trading platform

            Orders come in by any interface, pass one risk gate and one sequenced engine, are safe on disk before they are
            published, and go to the venue of their account. Out of the box the venues are simulated: nothing to sign up for,
            nothing to set up.

            Usage: rialto <COMMAND>

            Commands:
              serve           Run the server; without flags it opens a demo desk
              import          Read reference data from a folder of CSV files into the data folder
              check-config    Check the configuration and show what every key means and where it was set
              sample-config   Print a commented configuration file with every key and its default
              sample-cluster  Print a commented cluster file, for rialto serve --cluster
              journal         Look at a journal, or go on after a loss
              backup          Back up a data folder, also while a server trades on it
              restore         Make a data folder from a backup, up to any record or instant
              kill            Halt trading and cancel what is open, without a network
              status          Say how the server on a data folder is, without a network; the exit code is 1 where it is not ready
              simulate        Run strategies over prices of the past, on virtual time
              strategy        What strategies there are, and a crate for one of your own
              ha              The members of a cluster: who leads, and who shall
              user            Manage users; a change counts at once, also where a server runs
              token           Give programs a key of their own; a change counts at once, also where a server runs
              venue           An exchange in its own process, to try clients against
              venues          The venues of the configuration
              fix             FIX: dialects of venues, a certification for clients, the sessions of a running server
              help            Print this message or the help of the given subcommand(s)

            Options:
              -h, --help
                      Print help (see a summary with '-h')

              -V, --version
                      Print version

            Examples:
              rialto serve                                  a demo desk on http://localhost:9090
              rialto serve --set http.port=0                the same on any free port
              rialto serve --config desk.toml --data-dir /var/lib/rialto
              rialto sample-config > desk.toml              every key with its default, to begin with
              rialto check-config --config desk.toml        look before you leap
              rialto import reference/ --data-dir data      your own exchanges, securities and accounts
              rialto journal verify --data-dir data         prove that nothing was lost or changed
              rialto backup /mnt/backup --data-dir data     a second copy, also while the server trades
              rialto kill --scope PLATFORM --data-dir data  stop everything, also when no network interface answers
              rialto simulate demo/simulation/trend.toml    strategies over two years of prices, and a report
              rialto strategy new my-idea --rialto .        a crate for a strategy of your own
              rialto serve --distributed                    a desk that also lets strategy processes in, such as this one:
              rialto strategy run PAIRS --server http://localhost:9090
              rialto user add anna --role trader            from now on, callers log in
              rialto token new robot --role trader          a key for a program
              rialto venue serve --demo                     an exchange that speaks Binance's protocol, to try clients against

            Data:
              Everything is kept in one folder, ./data unless --data-dir says otherwise: the journal, snapshots, the read model
              and the ledgers of simulated venues. One server at a time may use it. Delete it to begin anew.

            Ports:
              HTTP 9090, HTTPS 9443, STOMP over TCP 61613, TLS 61612 and WebSocket 61614, FIX 9876, all on 127.0.0.1. The keys
              http.port, https.port, broker.tcp.port, broker.tls.port, broker.ws.port, fix.port and bind change them; port 0 takes
              any free one.

            Configuration:
              A flag (--set http.port=0) wins over the environment (RIALTO_HTTP_PORT=0), the environment over the file (--config),
              the file over profiles (--profile demo, simulated, inbound-fix), profiles over defaults.

            Exit codes:
              0    done, or stopped in order
              1    something failed: a disk, a port
              2    what was asked can't be: flags, configuration, reference data
              3    another server uses the data folder
              4    the data is damaged or lost; the message names file and offset, or who knows more
              5    a session that was replayed came out otherwise, or a follower's state is not the leader's
              6    another server of the cluster leads
              130  ended at once by a second signal
        "#]].assert_eq(&help_of(&[]));
}

#[test]
fn serve_explains_itself() {
    expect![[r#"
            Run the server; without flags it opens a demo desk

            When it serves, it prints one line of JSON with its addresses on standard output. Logs go to standard error.
            SIGTERM or Ctrl-C stops it in order, a second one at once.

            Usage: rialto serve [OPTIONS]

            Options:
                  --config <FILE>
                      Configuration file (TOML)

                  --profile <NAME>
                      Profile to switch on; may be repeated, later ones win [default without --config: demo]

                  --set <KEY=VALUE>
                      One key of the configuration; may be repeated

                  --data-dir <FOLDER>
                      Where everything is kept [default: data]

                  --ui-dir <FOLDER>
                      Take the trading screen from this folder, where it was built, and not from the program

                  --distributed
                      Let strategies in processes of their own in: rialto strategy run

                  --cluster <FILE>
                      Be a member of a cluster, as this file says: rialto sample-cluster

              -h, --help
                      Print help (see a summary with '-h')
        "#]]
    .assert_eq(&help_of(&["serve"]));
}

#[test]
fn import_explains_itself() {
    expect![[r#"
            Read reference data from a folder of CSV files into the data folder

            Exchanges, families, securities, accounts and strategies. Only what differs is changed; a security that is
            missing in the files is removed, or made not tradeable where orders, positions or transactions refer to it.
            All errors in the files are listed, with file, line and column. A server that runs on
            the data folder is asked to do it; where users are configured, RIALTO_TOKEN holds the token of an admin.

            Usage: rialto import [OPTIONS] <FOLDER>

            Arguments:
              <FOLDER>
                      Folder with exchanges.csv, trading-hours.csv, holidays.csv, families.csv, securities.csv, accounts.csv, strategies.csv and, for simulated venues, opening.csv

            Options:
                  --config <FILE>
                      Configuration file (TOML)

                  --profile <NAME>
                      Profile to switch on; may be repeated, later ones win [default without --config: demo]

                  --set <KEY=VALUE>
                      One key of the configuration; may be repeated

                  --data-dir <FOLDER>
                      Where everything is kept [default: data]

              -h, --help
                      Print help (see a summary with '-h')
        "#]].assert_eq(&help_of(&["import"]));
}

#[test]
fn journal_verify_explains_itself() {
    expect![[r#"
            Check every frame, checksum and link of a journal, and print the hash that proves all of it.

            Changes nothing, and may be called while a server runs.

            Usage: rialto journal verify [OPTIONS]

            Options:
                  --config <FILE>
                      Configuration file (TOML)

                  --profile <NAME>
                      Profile to switch on; may be repeated, later ones win [default without --config: demo]

                  --set <KEY=VALUE>
                      One key of the configuration; may be repeated

                  --data-dir <FOLDER>
                      Where everything is kept [default: data]

              -h, --help
                      Print help (see a summary with '-h')
        "#]]
    .assert_eq(&help_of(&["journal", "verify"]));
}

#[test]
fn a_wrong_word_is_answered_with_the_right_one() {
    let answer = |words: &[&str]| Cli::try_parse_from(words).unwrap_err().render().to_string();
    expect![[r#"
            error: unrecognized subcommand 'server'

              tip: some similar subcommands exist: 'restore', 'user', 'serve'

            Usage: rialto <COMMAND>

            For more information, try '--help'.
        "#]]
    .assert_eq(&answer(&["rialto", "server"]));
    expect![[r#"
            error: unexpected argument '--data-dri' found

              tip: a similar argument exists: '--data-dir'

            Usage: rialto serve --data-dir <FOLDER>

            For more information, try '--help'.
        "#]]
    .assert_eq(&answer(&["rialto", "serve", "--data-dri", "x"]));
}

#[test]
fn flags_become_sources() {
    let words = ["rialto", "serve", "--profile", "demo", "--profile", "simulated", "--set", "http.port=0"];
    let CliCommand::Serve { config, .. } = Cli::try_parse_from(words).unwrap().command else { panic!("serve") };
    let sources = config.into_sources();
    assert_eq!(sources.profiles, ["demo", "simulated"]);
    assert_eq!(sources.set, ["http.port=0"]);
    assert_eq!((sources.file, sources.data_dir), (None, None));
}
