//! Users: list, add, change, remove.

use access::{Name, NotARole, Password, Refused, Role, User};
use axum::extract::State;
use axum::response::Response;
use domain::Refusal;
use wire::{FieldError, RoleVO, UserBody, UserVO, json};

use crate::admission::InTheAudit;
use crate::answer;
use crate::doors::Doors;
use crate::form::Form;
use crate::problem::Problem;
use crate::request::{Client, JsonBody, PathText};

pub(crate) async fn list(State(doors): State<Doors>, form: Form) -> Result<Response, Problem> {
    let users = doors.with_register(|register, _| Ok(register.users()?)).await?;
    Ok(answer::list(form, users, |user, text| json::write(&shown(user), text)))
}

fn shown(user: &User) -> UserVO<'_> {
    UserVO { name: user.name.as_str(), role: role_vo(&user.role), created: user.created.into() }
}

pub(crate) fn role_vo(role: &Role) -> RoleVO<'_> {
    RoleVO::new(role.name(), role.strategy().map(|strategy| &**strategy))
}

pub(crate) async fn add(
    State(doors): State<Doors>,
    Client(speaker): Client,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let UserBody { name, password, role, strategy, replace } = UserBody::parse(&body)?;
    let (name, role) = (name_of(&name)?, role_of(&doors, &role, strategy.as_deref())?);
    let malformed = |error: access::NotAPassword| vec![FieldError::malformed("password", error.to_string())];
    let password = Password::new(password.into()).map_err(malformed)?;
    doors
        .with_register(move |register, at| register.add_user((&name, &role, &password), replace, &speaker.actor, at))
        .await?;
    Ok(recorded(answer::done()))
}

pub(crate) async fn remove(
    State(doors): State<Doors>,
    Client(speaker): Client,
    PathText(name): PathText,
) -> Result<Response, Problem> {
    let name: Name = name.parse().map_err(|_| unknown_user(&name))?;
    doors.with_register(move |register, at| register.remove_user(&name, &speaker.actor, at)).await?;
    Ok(recorded(answer::done()))
}

/// The register has audited it in the same commit.
pub(crate) fn recorded(mut response: Response) -> Response {
    response.extensions_mut().insert(InTheAudit);
    response
}

pub(crate) fn name_of(text: &str) -> Result<Name, Problem> {
    text.parse().map_err(|error: access::NotAName| vec![FieldError::malformed("name", error.to_string())].into())
}

/// A role, bound to a strategy that exists.
pub(crate) fn role_of(doors: &Doors, role: &str, strategy: Option<&str>) -> Result<Role, Problem> {
    let role = Role::new(role, strategy).map_err(|error| vec![not_a_role(error)])?;
    match role.strategy().filter(|name| doors.reference().strategy_named(name).is_none()) {
        Some(name) => Err(Refusal::UnknownStrategy(name.clone()).into()),
        None => Ok(role),
    }
}

fn not_a_role(error: NotARole) -> FieldError {
    match error {
        NotARole::Unknown => FieldError::malformed("role", error.to_string()),
        NotARole::StrategyMissing => FieldError::missing("strategy"),
        NotARole::StrategyNotNeeded => FieldError::not_needed("strategy", "belongs to the role strategy only"),
    }
}

fn unknown_user(name: &str) -> Problem {
    Problem::new("unknown-user", format!("there is no user called {name}")).of_the_path()
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        let reason = refused.to_string();
        match refused {
            Refused::NameTaken { .. } => Self::new("name-taken", reason),
            Refused::UnknownUser(_) => Self::new("unknown-user", reason).of_the_path(),
            Refused::UnknownToken(_) => Self::new("unknown-token", reason).of_the_path(),
            Refused::NoAdminLeft => Self::new("no-admin-left", reason),
            Refused::SettingsChanged { .. } => Self::new("settings-changed", reason),
            Refused::DaysOutOfRange => vec![FieldError::malformed("days", reason)].into(),
            Refused::Failed(error) => {
                tracing::error!(%error, "users file is not readable");
                access::Denied::Unavailable.into()
            }
        }
    }
}
