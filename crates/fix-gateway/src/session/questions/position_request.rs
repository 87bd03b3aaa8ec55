//! Positions of an account (AN): an acknowledgement (AO), and a report (AP) for each security that is held.

use std::iter;

use domain::query::Filter;
use domain::{Answer, Query};
use fix::OutgoingMessage;
use fix_net::SessionQueueFull;

use super::Question;
use crate::translate::{
    HeldPosition, MessageReject, PositionAnswer, PositionRefusal, PositionRequest, held_positions, position_report,
    positions_ack,
};

impl Question {
    pub(super) async fn send_positions(
        &self,
        wanted: Result<&PositionRequest, &PositionRefusal>,
    ) -> Result<(), SessionQueueFull> {
        let held = match wanted {
            Ok(wanted) => self.held(wanted).await,
            Err(refusal) => return self.handle.send_all(iter::once(self.positions_refused(refusal))).await,
        };
        match held {
            Ok(held) => self.handle.send_all(self.position_reports(&held).into_iter()).await,
            Err(reject) => self.handle.send_all(iter::once(self.not_available(&reject))).await,
        }
    }

    fn positions_refused(&self, refusal: &PositionRefusal) -> OutgoingMessage {
        positions_ack(&self.position_answer(&self.id_seed, 0), Some(refusal))
    }

    async fn held(&self, wanted: &PositionRequest) -> Result<Vec<HeldPosition>, MessageReject> {
        let PositionRequest { account, security, strategy } = *wanted;
        let filter = Filter { strategy, account: Some(account), security };
        let positions = match self.query(Query::Positions(filter)).await?.outcome {
            Ok(Answer::Positions(positions)) => positions,
            Ok(_) | Err(_) => return Err(MessageReject::other("busy", "the positions are not known, ask again")),
        };
        held_positions(&positions).map_err(|_| MessageReject::other("overflow", "the positions cannot be added up"))
    }

    fn position_reports(&self, held: &[HeldPosition]) -> Vec<OutgoingMessage> {
        let answer = self.position_answer(&self.id_seed, held.len());
        let reference = self.context.bus.catalogue.current();
        let report = |(at, held)| position_report(&answer, at + 1, held, &reference);
        let reports = held.iter().enumerate().map(report);
        iter::once(positions_ack(&answer, None)).chain(reports).collect()
    }

    fn position_answer<'a>(&'a self, seed: &str, total: usize) -> PositionAnswer<'a> {
        let id = self.context.exec_ids.for_state(seed, self.msg_seq_num, 0);
        PositionAnswer { echo: &self.echo, id, at: self.now(), total }
    }
}
