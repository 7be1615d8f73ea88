//! A wire that loses requests and answers, doubles requests, and brings some of them much later.

use eclusa::audit::Head;
use eclusa_fleet::{
    RequestFailure, TrailWire,
    wire::{ChainHead, ChainRequest, ChainState},
};

use super::{database::SimulatedServer, moves::Dice};
use crate::{http::refused, receive::receive};

/// A shipment that is still on its way.
pub(super) struct DelayedShipment {
    pub(super) machine: u32,
    pub(super) chain: u32,
    pub(super) before: Head,
    pub(super) packed: Vec<u8>,
}

pub(super) struct SimulatedWire<'a> {
    pub(super) server: &'a SimulatedServer,
    pub(super) machine: u32,
    pub(super) dice: Dice,
    /// Whether anything goes wrong.
    pub(super) faults: bool,
    pub(super) delayed: &'a mut Vec<DelayedShipment>,
}

/// What happens to a request.
#[derive(Clone, Copy, PartialEq)]
enum Passage {
    Whole,
    Lost,
    AnswerLost,
    Doubled,
    Delayed,
}

fn lost() -> RequestFailure {
    RequestFailure::Later { why: "nothing came back".to_owned(), timed_out: true }
}

/// As it arrives at the server.
pub(super) async fn arrive(
    server: &SimulatedServer,
    it: DelayedShipment,
) -> Result<ChainHead, RequestFailure> {
    let received = receive(server, (it.machine, it.chain), it.before, it.packed).await;
    received.map(|it| it.0).map_err(|err| {
        let refusal = refused(err);
        RequestFailure::Refused { status: refusal.status.as_u16(), said: refusal.body }
    })
}

impl SimulatedWire<'_> {
    fn passage(&mut self) -> Passage {
        match self.dice.below(100) {
            _ if !self.faults => Passage::Whole,
            ..=7 => Passage::Lost,
            8..=15 => Passage::AnswerLost,
            16..=21 => Passage::Doubled,
            22..=29 => Passage::Delayed,
            _ => Passage::Whole,
        }
    }
}

impl TrailWire for SimulatedWire<'_> {
    async fn begin(&mut self, request: &ChainRequest) -> Result<ChainState, RequestFailure> {
        match self.passage() {
            Passage::Lost | Passage::Delayed => Err(lost()),
            Passage::AnswerLost => {
                self.server.begin(self.machine, request);
                Err(lost())
            }
            Passage::Doubled => {
                self.server.begin(self.machine, request);
                Ok(self.server.begin(self.machine, request))
            }
            Passage::Whole => Ok(self.server.begin(self.machine, request)),
        }
    }

    async fn ship(
        &mut self,
        chain: u32,
        before: Head,
        packed: Vec<u8>,
    ) -> Result<ChainHead, RequestFailure> {
        let shipment = |packed| DelayedShipment { machine: self.machine, chain, before, packed };
        let again = shipment(packed.clone());
        let this = shipment(packed);
        match self.passage() {
            Passage::Lost => Err(lost()),
            Passage::Whole => arrive(self.server, this).await,
            Passage::AnswerLost => {
                // What became of it is what nobody hears.
                drop(arrive(self.server, this).await);
                Err(lost())
            }
            Passage::Doubled => {
                drop(arrive(self.server, again).await);
                arrive(self.server, this).await
            }
            Passage::Delayed => {
                self.delayed.push(this);
                Err(lost())
            }
        }
    }
}
