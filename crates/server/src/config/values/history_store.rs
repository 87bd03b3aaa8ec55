//! Store of the read model.

use read_model_postgres::PostgresUrl;

use super::setting::{Literal, Setting};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HistoryStore {
    /// A file in the data folder.
    Sqlite,
    /// A database, for a team.
    Postgres(Box<PostgresUrl>),
}

/// Shown without its password; no reason repeats a part of the text.
impl Setting for HistoryStore {
    const LITERAL: Literal = Literal::Quoted;

    fn shape() -> String {
        "sqlite, or postgres://USER:PASSWORD@HOST:PORT/DATABASE".to_owned()
    }

    fn parse(text: &str) -> Result<Self, String> {
        if text == "sqlite" {
            return Ok(Self::Sqlite);
        }
        let refused = |reason: String| format!("the value is not {}: {reason}", Self::shape());
        PostgresUrl::parse(text).map(|url| Self::Postgres(Box::new(url))).map_err(refused)
    }

    fn show(&self) -> String {
        match self {
            Self::Sqlite => "sqlite".to_owned(),
            Self::Postgres(url) => url.to_string(),
        }
    }
}
