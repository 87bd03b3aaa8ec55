//! Users: list, add, change, remove.

use access::{InvalidPassword, InvalidRole, Password, PrincipalName, User, UserRole, UserStoreError};
use axum::extract::State;
use axum::response::Response;
use domain::Refusal;
use domain::rights::TradingRights;
use wire::{FieldError, RightsVO, RoleVO, UserBody, UserVO, json, parse_rights};

use crate::app_state::AppState;
use crate::extract::{AuthenticatedClient, JsonBody, PathText};
use crate::lists::list_format::ListFormat;
use crate::middleware::caller::AlreadyAudited;
use crate::problem::Problem;
use crate::response;

pub(crate) async fn list(State(state): State<AppState>, form: ListFormat) -> Result<Response, Problem> {
    let users = state.with_register(|register, _| Ok(register.users()?)).await?;
    Ok(response::list(form, users, |user, text| json::write(&to_vo(user), text)))
}

fn to_vo(user: &User) -> UserVO<'_> {
    let rights = RightsVO::from_domain(user.rights.as_deref());
    UserVO::from_domain(user.name.as_str(), role_vo(&user.role), user.created, rights)
}

pub(crate) fn role_vo(role: &UserRole) -> RoleVO<'_> {
    RoleVO::new(role.name(), role.strategy().map(|strategy| &**strategy))
}

pub(crate) async fn add(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let UserBody { name, password, role, strategy, replace, rights } = UserBody::parse(&body)?;
    let (name, role) = (parse_name(&name)?, parse_role(&state, &role, strategy.as_deref())?);
    let password = Password::new(password.into()).map_err(|error| vec![password_error(&error)])?;
    check_rights(&state, rights.as_ref())?;
    state
        .with_register(move |register, at| {
            register.add_user((&name, &role, &password), replace, &caller.actor, at)?;
            rights.map_or(Ok(()), |rights| register.set_user_rights(&name, &rights, &caller.actor, at))
        })
        .await?;
    Ok(mark_audited(response::empty()))
}

pub(crate) async fn set_rights(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    PathText(name): PathText,
    JsonBody(body): JsonBody,
) -> Result<Response, Problem> {
    let rights = parse_rights(&body)?;
    check_rights(&state, Some(&rights))?;
    let name: PrincipalName = name.parse().map_err(|_| unknown_user(&name))?;
    state.with_register(move |register, at| register.set_user_rights(&name, &rights, &caller.actor, at)).await?;
    Ok(mark_audited(response::empty()))
}

/// A misspelt id would allow something else.
pub(crate) fn check_rights(state: &AppState, rights: Option<&TradingRights>) -> Result<(), Refusal> {
    let (Some(rights), reference) = (rights, state.reference()) else { return Ok(()) };
    let unknown = rights.accounts.iter().flatten().find(|id| !reference.accounts.contains_key(id));
    if let Some(id) = unknown {
        return Err(Refusal::UnknownAccount(id.to_string().into()));
    }
    let unknown = rights.securities.iter().flatten().find(|id| !reference.securities.contains_key(id));
    unknown.map_or(Ok(()), |id| Err(Refusal::UnknownSecurity(*id)))
}

pub(crate) async fn remove(
    State(state): State<AppState>,
    AuthenticatedClient(caller): AuthenticatedClient,
    PathText(name): PathText,
) -> Result<Response, Problem> {
    let name: PrincipalName = name.parse().map_err(|_| unknown_user(&name))?;
    state.with_register(move |register, at| register.remove_user(&name, &caller.actor, at)).await?;
    Ok(mark_audited(response::empty()))
}

/// The register has audited it in the same commit.
pub(crate) fn mark_audited(mut response: Response) -> Response {
    response.extensions_mut().insert(AlreadyAudited);
    response
}

pub(crate) fn parse_name(text: &str) -> Result<PrincipalName, Problem> {
    text.parse().map_err(|error: access::InvalidName| vec![FieldError::malformed("name", error.to_string())].into())
}

/// A role, bound to a strategy that exists.
pub(crate) fn parse_role(state: &AppState, role: &str, strategy: Option<&str>) -> Result<UserRole, Problem> {
    let role = UserRole::new(role, strategy).map_err(|error| vec![not_a_role(error)])?;
    match role.strategy().filter(|name| state.reference().strategy_named(name).is_none()) {
        Some(name) => Err(Refusal::UnknownStrategy(name.clone()).into()),
        None => Ok(role),
    }
}

fn not_a_role(error: InvalidRole) -> FieldError {
    match error {
        InvalidRole::Unknown => FieldError::malformed("role", error.to_string()),
        InvalidRole::StrategyMissing => FieldError::missing("strategy"),
        InvalidRole::StrategyNotNeeded => FieldError::unexpected("strategy", "belongs to the role strategy only"),
    }
}

fn unknown_user(name: &str) -> Problem {
    Problem::new("unknown-user", format!("there is no user called {name}")).into_not_found()
}

impl From<UserStoreError> for Problem {
    fn from(refused: UserStoreError) -> Self {
        let reason = refused.to_string();
        match refused {
            UserStoreError::NameTaken { .. } => Self::new("name-taken", reason),
            UserStoreError::UnknownUser(_) => Self::new("unknown-user", reason).into_not_found(),
            UserStoreError::UnknownToken(_) => Self::new("unknown-token", reason).into_not_found(),
            UserStoreError::NoAdminLeft => Self::new("no-admin-left", reason),
            UserStoreError::SettingsChanged { .. } => Self::new("settings-changed", reason),
            UserStoreError::DaysOutOfRange => vec![FieldError::malformed("days", reason)].into(),
            UserStoreError::Failed(error) => {
                tracing::error!(%error, "users file is not readable");
                access::AccessDenied::Unavailable.into()
            }
        }
    }
}

/// A password that is too common has the right form, so it is not malformed.
fn password_error(error: &InvalidPassword) -> FieldError {
    let code = if *error == InvalidPassword::Common { "common-password" } else { wire::fields::MALFORMED_FIELD };
    FieldError::new("password", code, error.to_string())
}
