//! Requests over REST.

use std::sync::Arc;

use adapter_kit::connection::{RequestFailure, VenueHttp};
use adapters::SendLease;
use domain::Timestamp;

use crate::protocol::answers::{CallAnswer, decode_rest};
use crate::protocol::requests::BinanceRequest;
use crate::protocol::requests::encoding::{RequestStamp, encode_public, encode_rest};
use crate::protocol::requests::signing::RequestSigner;

/// Signs, sends and reads requests over REST. Without a key only public ones leave.
#[derive(Debug)]
pub struct RestClient {
    http: VenueHttp,
    signer: Option<Arc<RequestSigner>>,
}

impl RestClient {
    pub fn new(http: VenueHttp, signer: Arc<RequestSigner>) -> Self {
        Self { http, signer: Some(signer) }
    }

    /// For public requests alone.
    pub fn public(http: VenueHttp) -> Self {
        Self { http, signer: None }
    }

    /// Sends a request once, where a lease is given only while it is held. An answer of any status is an answer; its meaning says whether the request took effect.
    pub async fn call(
        &self,
        request: &BinanceRequest,
        stamp: RequestStamp,
        lease: Option<&SendLease>,
        clock: impl Fn() -> Timestamp,
    ) -> Result<CallAnswer, RequestFailure> {
        let encoded = match &self.signer {
            Some(signer) => encode_rest(request, signer, stamp),
            None => encode_public(request),
        };
        let sent = encoded.map_err(|reason| RequestFailure::NotSent(reason.to_string()))?;
        let response = self.http.send_while(lease, &sent).await?;
        Ok(decode_rest(&response, clock()))
    }
}
