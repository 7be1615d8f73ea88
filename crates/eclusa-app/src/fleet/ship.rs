//! Ships the records of one store: in order, one shipment in flight, and nothing is dropped.

use eclusa::{
    Record,
    audit::{Head, Log},
};
use eclusa_fleet::{
    ShippedStore, shipment,
    wire::{ChainHead, ChainRequest, ChainState, RefusedRequest},
};
use reqwest::Method;

use super::client::{REQUEST_TIME, RequestFailure, ServerClient};

/// How many records a shipment has at most.
pub(super) const MAX_RECORDS: usize = 500;

/// The largest shipment before it is compressed, in bytes, unless one record alone is larger.
const MAX_BYTES: usize = 256 << 10;

/// What came of one step.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ShipStep {
    /// Everything is at the server.
    CaughtUp,
    /// There is more to do, now.
    Moved,
    /// It goes no further: `stopped` says why.
    Stopped,
}

/// A store to ship, and what is known of it.
pub(super) struct Shipper<'a> {
    pub(super) id: &'a str,
    pub(super) workspace: &'a str,
    pub(super) log: &'a dyn Log,
    /// How many records the next shipment has at most.
    pub(super) limit: &'a mut usize,
}

impl Shipper<'_> {
    /// Begins the chain, or sends one shipment.
    pub(super) async fn step(
        &mut self,
        client: &mut ServerClient,
        state: &mut ShippedStore,
    ) -> Result<ShipStep, String> {
        if state.stopped.is_some() {
            return Ok(ShipStep::Stopped);
        }
        let unread = |err| format!("the log of {} cannot be read: {err}", self.workspace);
        let Some(chain) = state.chain else {
            return self.begin(client, state).await;
        };
        let shipped = head(&state.shipped)?;
        let end = self.log.head().map_err(unread)?;
        if end.seq == shipped.seq && end.hash == shipped.hash {
            return Ok(ShipStep::CaughtUp);
        }
        let mut records = self.log.records(shipped.seq + 1, *self.limit).map_err(unread)?;
        let mut bytes = 0;
        let fits = records.iter().take_while(|it| {
            bytes += it.body.len() + 1;
            bytes <= MAX_BYTES
        });
        let fits = fits.count().max(1);
        records.truncate(fits);
        let Some(last) = records.last().map(Record::receipt) else {
            return Ok(self.forked(state, "the log is shorter than what was shipped"));
        };
        let bodies = records.iter().map(|it| it.body.as_str());
        let packed = shipment::pack(bodies).map_err(|err| err.to_string())?;
        let path =
            format!("/v1/records?chain={chain}&before={}&previous={}", shipped.seq, shipped.hash);
        let answer: Result<ChainHead, _> =
            client.send(Method::POST, &path, packed, REQUEST_TIME).await;
        match answer {
            Ok(kept) if kept == ChainHead::from(Head { seq: last.seq, hash: last.hash }) => {
                state.shipped = kept;
                *self.limit = (*self.limit * 2).min(MAX_RECORDS);
                Ok(ShipStep::Moved)
            }
            Ok(_) => Ok(self.forked(state, "records were changed after they were written")),
            Err(RequestFailure::Later { why, timed_out }) => {
                if timed_out {
                    *self.limit = (*self.limit / 2).max(1);
                }
                Err(why)
            }
            Err(RequestFailure::Refused { status, said }) => {
                self.refused(state, status, said, records.len())
            }
        }
    }

    /// Begins the chain. Where the server has it already, what it has is compared.
    async fn begin(
        &self,
        client: &mut ServerClient,
        state: &mut ShippedStore,
    ) -> Result<ShipStep, String> {
        let request = ChainRequest {
            store: self.id.to_owned(),
            workspace: self.workspace.to_owned(),
            begins: state.begins.clone(),
        };
        let begun: Result<ChainState, _> = client.post("/v1/chains", &request, REQUEST_TIME).await;
        let begun = begun.map_err(|err| err.describe())?;
        state.chain = Some(begun.chain);
        if let Some(why) = begun.stopped {
            state.stopped = Some(why);
            return Ok(ShipStep::Stopped);
        }
        self.go_on(state, &begun.head)
    }

    fn refused(
        &mut self,
        state: &mut ShippedStore,
        status: u16,
        said: RefusedRequest,
        count: usize,
    ) -> Result<ShipStep, String> {
        match (status, &said.head) {
            // The server has more or less than this machine thinks.
            (409, Some(head)) => self.go_on(state, head),
            // It lost the chain: it begins where it began, and everything is shipped again.
            (404, _) => {
                (state.chain, state.shipped) = (None, state.begins.clone());
                Ok(ShipStep::Moved)
            }
            (413, _) if count > 1 => {
                *self.limit = (count / 2).max(1);
                Ok(ShipStep::Moved)
            }
            (413 | 422, _) => {
                state.stopped = Some(said.error);
                Ok(ShipStep::Stopped)
            }
            _ => Err(RequestFailure::Refused { status, said }.describe()),
        }
    }

    /// Goes on from what the server has, if that is of this log.
    fn go_on(&self, state: &mut ShippedStore, found: &ChainHead) -> Result<ShipStep, String> {
        let at = head(found)?;
        let own = match at.seq {
            seq if seq == state.begins.seq => *found == state.begins,
            seq => {
                let records = self.log.records(seq, 1);
                let records = records.map_err(|err| format!("the log cannot be read: {err}"))?;
                records.first().is_some_and(|it| it.seq == seq && it.hash == at.hash)
            }
        };
        if !own {
            return Ok(self.forked(state, "the server has records that are not in it"));
        }
        state.shipped = found.clone();
        Ok(ShipStep::Moved)
    }

    fn forked(&self, state: &mut ShippedStore, why: &str) -> ShipStep {
        state.stopped = Some(format!(
            "the log of {} is forked: {why}, as after a clone or a restored snapshot; enrol again with `eclusa fleet \
             enroll CODE`",
            self.workspace
        ));
        ShipStep::Stopped
    }
}

fn head(of: &ChainHead) -> Result<Head, String> {
    of.head().ok_or_else(|| format!("`{}` is not the hash of a record", of.hash))
}
