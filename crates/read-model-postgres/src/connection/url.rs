//! Address of a database: `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=…`. It is printed without its password.

use std::fmt;
use std::path::PathBuf;

use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

const DEFAULT_SCHEMA: &str = "rialto";
const DEFAULT_PORT: u16 = 5432;
/// The longest name that PostgreSQL takes.
const NAME_LENGTH_MAX: usize = 63;

/// A checked address.
#[derive(Clone, PartialEq, Eq)]
pub struct PostgresUrl {
    pub(crate) config: Config,
    /// Of all tables and views.
    pub(crate) schema: String,
    /// The authorities that the certificate of the server must come from, as PEM; none: those of the system.
    pub(crate) root_certificates: Option<PathBuf>,
}

impl PostgresUrl {
    /// No reason repeats a part of the text: any part of it may be the password.
    pub fn parse(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("postgres://").or_else(|| text.strip_prefix("postgresql://"));
        let rest = rest.ok_or("it does not begin with postgres://")?;
        if !has_clear_login(rest) {
            return Err(UNREADABLE.to_owned());
        }
        let (address, parameters) = rest.split_once('?').unwrap_or((rest, ""));
        let (mut schema, mut root_certificates, mut others) = (DEFAULT_SCHEMA.to_owned(), None, Vec::new());
        for parameter in parameters.split('&').filter(|parameter| !parameter.is_empty()) {
            match parameter.split_once('=') {
                Some(("schema", name)) => schema = checked_schema(name)?,
                Some(("sslrootcert", file)) => root_certificates = Some(PathBuf::from(file)),
                // Whatever the mode is called, a certificate is always checked.
                Some(("sslmode", "verify-full" | "verify-ca")) => others.push("sslmode=require"),
                _ => others.push(parameter),
            }
        }
        let config: Config = format!("postgres://{address}?{}", others.join("&")).parse().map_err(|_| UNREADABLE)?;
        if config.get_hosts().is_empty() {
            return Err("it names no host".to_owned());
        }
        if config.get_user().is_none_or(str::is_empty) {
            return Err("it names no user".to_owned());
        }
        Ok(Self { config, schema, root_certificates })
    }
}

/// The driver takes all that is before the first `@` for user and password, and what follows for the host. With a sign in a password that
/// is not written as its code, a part of the password would become the user or the host, and these are printed.
fn has_clear_login(address: &str) -> bool {
    let Some((login, rest)) = address.split_once('@') else { return true };
    let user = login.split(':').next().unwrap_or_default();
    !rest.contains('@') && !login.contains(['/', '?']) && !user.contains('=')
}

const UNREADABLE: &str = "a part of it cannot be read; @ : / ? # and % in the user, the password and the database are \
    written as %40 %3A %2F %3F %23 and %25, and the parameters are sslmode (disable, prefer, require, verify-full), sslrootcert, \
    schema and those of libpq";

/// A name that needs no quotes, so that people can type it.
fn checked_schema(name: &str) -> Result<String, String> {
    let is_first = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let is_legal = |byte: u8| is_first(byte) || byte.is_ascii_digit();
    let is_good =
        name.len() <= NAME_LENGTH_MAX && name.bytes().next().is_some_and(is_first) && name.bytes().all(is_legal);
    let is_reserved = name.starts_with("pg_");
    if is_good && !is_reserved {
        return Ok(name.to_owned());
    }
    Err("schema is not a name of small letters, digits and underscores, without pg_ at its begin".to_owned())
}

/// Without the password.
impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let config = &self.config;
        write!(f, "postgres://{}", config.get_user().unwrap_or_default())?;
        if config.get_password().is_some() {
            f.write_str(":***")?;
        }
        let hosts: Vec<_> =
            config.get_hosts().iter().zip(0..).map(|(host, place)| shown(config, host, place)).collect();
        write!(f, "@{}/{}?schema={}", hosts.join(","), config.get_dbname().unwrap_or_default(), self.schema)?;
        match config.get_ssl_mode() {
            SslMode::Disable => f.write_str("&sslmode=disable"),
            SslMode::Require => f.write_str("&sslmode=require"),
            _ => Ok(()),
        }
    }
}

/// A host with its port: one port may be meant for all hosts.
fn shown(config: &Config, host: &Host, place: usize) -> String {
    let ports = config.get_ports();
    let port = ports.get(place).or(ports.first()).copied().unwrap_or(DEFAULT_PORT);
    match host {
        Host::Tcp(name) => format!("{name}:{port}"),
        #[cfg(unix)]
        Host::Unix(folder) => format!("{}:{port}", folder.display().to_string().replace('/', "%2F")),
    }
}

impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        PostgresUrl::parse(text).unwrap().to_string()
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        let plain = "postgres://desk:***@db.example:5432/trades?schema=rialto";
        assert_eq!(shown("postgres://desk:open%40sesame@db.example/trades"), plain);
        assert_eq!(shown("postgresql://desk@db.example:5432/trades?password=sesame"), plain);
        assert_eq!(shown("postgres://desk:open%3Fschema=sesame@db.example/trades"), plain);
        assert_eq!(shown("postgres://desk%40team:a:b@db.example/trades"), plain.replace("desk", "desk@team"));
        assert_eq!(shown("postgres://desk:sesame@[::1]:6000/trades"), plain.replace("db.example:5432", "::1:6000"));
        assert_eq!(shown("postgres://desk@db.example/trades"), plain.replace(":***", ""));
        let all =
            "postgres://desk:sesame@db.example:6000/trades?sslmode=verify-full&schema=history&sslrootcert=/ca.pem";
        assert_eq!(shown(all), "postgres://desk:***@db.example:6000/trades?schema=history&sslmode=require");
        assert_eq!(format!("{:?}", PostgresUrl::parse(all).unwrap()), shown(all));
    }

    #[test]
    fn a_bad_address_is_refused_and_not_repeated() {
        for (text, reason) in [
            ("mysql://desk:sesame@db/trades", "begin with postgres://"),
            ("postgres://desk:sesame@db/trades?sslmode=sometimes", "cannot be read"),
            ("postgres://desk:sesame@db:sesame/trades", "cannot be read"),
            ("postgres://desk:open@sesame@db/trades", "cannot be read"),
            ("postgres://desk:open/sesame@db/trades", "cannot be read"),
            ("postgres://desk:open?sesame@db/trades", "cannot be read"),
            ("postgres://desk@db/trades?password=open@sesame", "cannot be read"),
            ("postgres://db/trades?user=desk&password=open@sesame", "cannot be read"),
            ("postgres://db:5432/trades?user=desk&password=open@sesame", "cannot be read"),
            ("postgres://db:5432?user=desk&password=open@sesame", "cannot be read"),
            ("postgres://user=desk&password=open@sesame", "cannot be read"),
            ("postgres:///trades?user=desk", "names no host"),
            ("postgres://db/trades", "names no user"),
            ("postgres://desk@db/trades?schema=sesame;drop", "schema"),
            ("postgres://desk@db/trades?schema=pg_sesame", "schema"),
        ] {
            let problem = PostgresUrl::parse(text).unwrap_err();
            assert!(problem.contains(reason) && !problem.contains("sesame"), "{text}: {problem}");
        }
    }
}
