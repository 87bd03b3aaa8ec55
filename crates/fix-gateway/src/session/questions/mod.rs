//! Questions of a client (H, AF, AD, AN), with `ExtendedMessages=Y`. Answers belong to the connection of the question; after a
//! disconnect the client has to ask again.

mod position_request;
mod status_request;
mod trade_request;
mod trade_search;

use std::sync::Arc;

use bus::history::{History, HistoryError};
use bus::{InFlightPermit, InboxError, Reply};
use domain::{Query, ReferenceData, Source, Text, Timestamp};
use fix::{FixMessage, OutgoingMessage};
use fix_net::SessionHandle;
use tokio::sync::OwnedSemaphorePermit;

use super::command_submission::engine_unavailable;
use super::session_status::Principal;
use crate::session::GatewayContext;
use crate::translate::{
    MessageReject, PositionRefusal, PositionRequest, RequestEcho, RequestMeaning, RequestScope, StatusClass,
    TradeRefusal, TradeRequest, application_not_available, wants_ended_orders,
};

/// A question, and where its answer goes.
pub(crate) struct Question {
    pub(crate) context: Arc<GatewayContext>,
    pub(crate) handle: SessionHandle,
    pub(crate) comp_id: Text,
    /// Differs for each message, so that no two answers have the same id.
    pub(crate) id_seed: String,
    pub(crate) echo: RequestEcho,
    /// MsgSeqNum (34) of the message.
    pub(crate) msg_seq_num: u64,
    pub(crate) wanted: WantedAnswer,
    /// Of those for which there are few places.
    pub(crate) _place: Option<OwnedSemaphorePermit>,
}

/// What a question asks for, or why it cannot be answered.
pub(crate) enum WantedAnswer {
    Order,
    Orders { scope: Result<RequestScope, MessageReject>, with_ended: bool },
    Trades(Result<TradeRequest, TradeRefusal>),
    Positions(Result<PositionRequest, PositionRefusal>),
}

impl WantedAnswer {
    /// Executions of any order: those that changed lately are looked through.
    pub(crate) fn is_trade_list(&self) -> bool {
        matches!(self, Self::Trades(Ok(TradeRequest { order: None, .. })))
    }

    pub(crate) fn from_message(
        message: &FixMessage<'_>,
        meaning: RequestMeaning,
        reference: &ReferenceData,
        principal: Option<&Principal>,
    ) -> Self {
        match meaning {
            RequestMeaning::Status(StatusClass::Trades) => Self::Trades(TradeRequest::from_message(message, reference)),
            RequestMeaning::Status(StatusClass::Positions) => {
                let rights = principal.and_then(|principal| principal.rights.as_deref());
                let strategy = principal.and_then(|principal| principal.strategy.as_ref());
                Self::Positions(PositionRequest::from_message(message, reference, rights, strategy))
            }
            RequestMeaning::Status(StatusClass::OpenOrders) => {
                let (scope, with_ended) = (RequestScope::from_message(message, reference), wants_ended_orders(message));
                let (scope, with_ended) = match with_ended {
                    Ok(with_ended) => (scope, with_ended),
                    Err(reject) => (Err(reject), false),
                };
                Self::Orders { scope, with_ended }
            }
            RequestMeaning::Status(StatusClass::OneOrder) | RequestMeaning::Command(_) => Self::Order,
        }
    }
}

impl Question {
    /// Any number of messages: each is made when the session has room for it.
    pub(crate) async fn answer(self) {
        let sent = match &self.wanted {
            WantedAnswer::Order => self.send_order_status().await,
            WantedAnswer::Orders { scope, with_ended } => self.send_mass_status(scope.as_ref(), *with_ended).await,
            WantedAnswer::Trades(wanted) => self.send_trades(wanted.as_ref()).await,
            WantedAnswer::Positions(wanted) => self.send_positions(wanted.as_ref()).await,
        };
        if sent.is_err() {
            tracing::warn!(session = %self.comp_id, "question not answered: the session has ended");
        }
    }

    async fn query(&self, query: Query) -> Result<Reply, MessageReject> {
        let ticket = self.context.bus.inbox.query_when_free(query, InFlightPermit::default()).await;
        let ticket = ticket.map_err(|closed| engine_unavailable(&closed))?;
        ticket.recv().await.map_err(|_| engine_unavailable(&InboxError::Stopped))
    }

    /// What the read model says, on a thread that may wait for it.
    async fn history<T: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn History) -> Result<T, HistoryError> + Send + 'static,
    ) -> Result<T, MessageReject> {
        let history = self.context.bus.history.clone();
        let answer = match history.answers_at_once() {
            true => read(&*history),
            false => {
                let read = tokio::task::spawn_blocking(move || read(&*history)).await;
                read.unwrap_or_else(|error| Err(HistoryError::Failed(error.to_string())))
            }
        };
        answer.map_err(|error| {
            tracing::warn!(%error, session = %self.comp_id, "a question is not answered: history is not readable");
            MessageReject::other("busy", &format!("{error}, ask again"))
        })
    }

    fn source(&self) -> Source {
        Source::Fix(self.comp_id.clone())
    }

    fn not_available(&self, reject: &MessageReject) -> OutgoingMessage {
        application_not_available(&self.echo, self.msg_seq_num, reject)
    }

    fn now(&self) -> Timestamp {
        Timestamp(self.context.clock.now().nanos())
    }
}
