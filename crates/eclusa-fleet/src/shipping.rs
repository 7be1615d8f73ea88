//! Ships the records of one store: in order, one shipment in flight, and nothing is dropped. The wire is somebody else's.

use eclusa::{
    Record,
    audit::{Head, Log},
};

use crate::{
    ShippedStore, shipment,
    wire::{ChainHead, ChainRequest, ChainState, RefusedRequest},
};

/// How many records a shipment has at most, as a machine makes it.
pub const MAX_SHIPPED: usize = 500;

/// The largest shipment before it is compressed, in bytes, unless one record alone is larger.
const MAX_BYTES: usize = 256 << 10;

/// Why a request came to nothing.
#[derive(Debug)]
pub enum RequestFailure {
    /// The server was not reached, or is busy: the same again, later.
    Later {
        /// What happened.
        why: String,
        /// Whether nothing came in time.
        timed_out: bool,
    },
    /// It was refused.
    Refused {
        /// The status of the answer.
        status: u16,
        /// What the server says.
        said: RefusedRequest,
    },
}

impl RequestFailure {
    /// In one sentence.
    pub fn describe(&self) -> String {
        match self {
            RequestFailure::Later { why, .. } => why.clone(),
            RequestFailure::Refused { status, said } => match said.error.is_empty() {
                true => format!("the server answered {status}"),
                false => said.error.clone(),
            },
        }
    }
}

/// How records reach a server: at most once for each request, or not at all, and without an answer at times.
pub trait TrailWire {
    /// Begins a chain, or hears how far it is.
    fn begin(
        &mut self,
        request: &ChainRequest,
    ) -> impl Future<Output = Result<ChainState, RequestFailure>> + Send;

    /// Sends a shipment of this chain that begins behind this head.
    fn ship(
        &mut self,
        chain: u32,
        before: Head,
        packed: Vec<u8>,
    ) -> impl Future<Output = Result<ChainHead, RequestFailure>> + Send;
}

/// What came of one step.
#[derive(Debug, PartialEq, Eq)]
pub enum ShipStep {
    /// Everything is at the server.
    CaughtUp,
    /// There is more to do, now.
    Moved,
    /// It goes no further: `stopped` says why.
    Stopped,
}

/// A store to ship, and what is known of it.
pub struct Shipper<'a> {
    /// What the store calls itself.
    pub id: &'a str,
    /// The workspace whose calls are recorded there.
    pub workspace: &'a str,
    /// Its records.
    pub log: &'a dyn Log,
    /// How many records the next shipment has at most.
    pub limit: &'a mut usize,
}

impl Shipper<'_> {
    /// Begins the chain, or sends one shipment.
    pub async fn step(
        &mut self,
        wire: &mut impl TrailWire,
        state: &mut ShippedStore,
    ) -> Result<ShipStep, String> {
        if state.stopped.is_some() {
            return Ok(ShipStep::Stopped);
        }
        let unread = |err| format!("the log of {} cannot be read: {err}", self.workspace);
        let Some(chain) = state.chain else {
            return self.begin(wire, state).await;
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
        match wire.ship(chain, shipped, packed).await {
            Ok(kept) if kept == ChainHead::from(Head { seq: last.seq, hash: last.hash }) => {
                state.shipped = kept;
                *self.limit = (*self.limit * 2).min(MAX_SHIPPED);
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
        wire: &mut impl TrailWire,
        state: &mut ShippedStore,
    ) -> Result<ShipStep, String> {
        let request = ChainRequest {
            store: self.id.to_owned(),
            workspace: self.workspace.to_owned(),
            begins: state.begins.clone(),
        };
        let begun = wire.begin(&request).await.map_err(|err| err.describe())?;
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
