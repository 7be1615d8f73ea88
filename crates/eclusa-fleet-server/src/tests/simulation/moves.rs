//! What happens in a run, one move after the other, and what must hold at each and at the end.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, atomic::Ordering},
};

use super::{
    database::{SimulatedDatabase, SimulatedServer},
    documents::{PEOPLE, START, VERSIONS, documents, signed_yes},
    machine::{SimulatedClock, SimulatedMachine, Snapshot},
    wire::{DelayedShipment, SimulatedWire, arrive},
};

/// Numbers that look random and are the same in every run.
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn new(seed: u64) -> Dice {
        Dice(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub(super) fn below(&mut self, end: u64) -> u64 {
        // The low bits are the worst.
        (self.roll() >> 11) % end.max(1)
    }

    fn at(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }
}

/// What keeps records, answers and versions safe: each can be taken out, to see that it is missed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mechanisms {
    /// A head moves only from where the shipment begins.
    pub(super) compare: bool,
    /// A chain moves only by its machine.
    pub(super) owner: bool,
    /// A machine checks whose answer it is.
    pub(super) check_votes: bool,
    /// A machine never goes back to older documents.
    pub(super) check_documents: bool,
    /// A machine believes a server that says it has less.
    pub(super) hear: bool,
}

impl Mechanisms {
    pub(super) const ALL: Mechanisms = Mechanisms {
        compare: true,
        owner: true,
        check_votes: true,
        check_documents: true,
        hear: true,
    };
}

/// A move: what is done, by whom, and the dice for the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Move {
    pub(super) kind: u8,
    pub(super) who: u8,
    pub(super) roll: u64,
}

/// How many machines there are at first, and how many at most.
const MACHINES: usize = 3;
const MAX_MACHINES: usize = 6;

pub(super) fn moves_of(seed: u64) -> Vec<Move> {
    let mut dice = Dice::new(seed);
    let count = 20 + dice.below(60);
    let next =
        |_| Move { kind: dice.below(256) as u8, who: dice.below(4) as u8, roll: dice.roll() };
    (0..count).map(next).collect()
}

struct World {
    clock: Arc<SimulatedClock>,
    server: SimulatedServer,
    mechanisms: Mechanisms,
    machines: Vec<SimulatedMachine>,
    snapshots: Vec<(usize, Snapshot)>,
    backups: Vec<SimulatedDatabase>,
    delayed: Vec<DelayedShipment>,
    /// Who really said yes: by store and binding.
    said: BTreeMap<(String, String), BTreeSet<String>>,
    /// The same since the call last ran.
    unused: BTreeMap<(String, String), BTreeSet<String>>,
    calls: u64,
    bindings: u64,
    told: Vec<String>,
}

/// Plays the moves, lets everything come to rest, and says what happened. An error says what does not hold.
pub(super) fn run(moves: &[Move], mechanisms: Mechanisms) -> Result<Vec<String>, String> {
    let clock = Arc::new(SimulatedClock(START.into()));
    let mut world = World {
        machines: (0..MACHINES).map(|it| SimulatedMachine::new(it, &clock)).collect(),
        clock,
        server: SimulatedServer::new(mechanisms),
        mechanisms,
        snapshots: Vec::new(),
        backups: Vec::new(),
        delayed: Vec::new(),
        said: BTreeMap::new(),
        unused: BTreeMap::new(),
        calls: 0,
        bindings: 0,
        told: Vec::new(),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        for it in moves {
            world.play(*it).await?;
        }
        world.rest().await?;
        Ok(std::mem::take(&mut world.told))
    })
}

impl World {
    async fn play(&mut self, it: Move) -> Result<(), String> {
        let (mut dice, who) = (Dice::new(it.roll), usize::from(it.who) % self.machines.len());
        self.clock.0.fetch_add(dice.below(5_000), Ordering::SeqCst);
        match it.kind {
            0..=69 => {
                for _ in 0..=dice.below(4) {
                    self.calls += 1;
                    let number = self.calls;
                    self.machines[who].work(number).await;
                }
                self.tell(who, "works");
            }
            70..=129 => self.ship(who, &mut dice, true).await,
            130..=159 => self.sync(who, &mut dice, true).await?,
            160..=174 => self.ask(who, &mut dice).await?,
            175..=199 => self.answer(&mut dice).await,
            200..=208 => self.forge(&mut dice).await,
            209..=219 => {
                self.machines[who].crash();
                self.tell(who, "crashes");
            }
            220..=226 if !self.delayed.is_empty() => {
                let late = self.delayed.remove(dice.at(self.delayed.len()));
                let done = arrive(&self.server, late).await.is_ok();
                self.told.push(format!("a late shipment arrives: {done}"));
            }
            227..=231 => self.backups.push(self.server.database().clone()),
            232..=236 if !self.backups.is_empty() => {
                let old = self.backups[dice.at(self.backups.len())].clone();
                *self.server.database() = old;
                self.told.push("the database is set back".to_owned());
            }
            237..=240 => {
                let it = self.machines[who].snapshot();
                self.snapshots.push((who, it));
            }
            241..=244 if !self.snapshots.is_empty() => {
                let (who, old) = &self.snapshots[dice.at(self.snapshots.len())];
                let who = *who;
                self.machines[who].set_back(old);
                let number = self.machines[who].number;
                self.copied(number);
                self.tell(who, "is set back");
            }
            245..=247 if self.machines.len() < MAX_MACHINES => {
                let other = self.machines[who].cloned();
                self.copied(other.number);
                self.machines.push(other);
                self.tell(who, "is cloned");
            }
            _ => {
                let mut database = self.server.database();
                database.pushed = (database.pushed + 1).min(VERSIONS - 1);
            }
        }
        Ok(())
    }

    fn tell(&mut self, who: usize, what: &str) {
        let seq = self.machines[who].head().seq;
        self.told.push(format!("machine {who} {what}, at record {seq}"));
    }

    /// There is more than one of this machine.
    fn copied(&mut self, number: u32) {
        for it in self.machines.iter_mut().filter(|it| it.number == number) {
            it.copied = true;
        }
    }

    async fn ship(&mut self, who: usize, dice: &mut Dice, faults: bool) {
        let World { machines, server, delayed, .. } = self;
        let machine = &mut machines[who];
        let mut wire = SimulatedWire {
            server,
            machine: machine.number,
            dice: Dice::new(dice.roll()),
            faults,
            delayed,
        };
        let steps = if faults { 1 + dice.at(4) } else { 50 };
        let what = machine.ship(&mut wire, steps).await;
        // A crash may come before it is written down.
        if !faults || dice.below(4) > 0 {
            machine.note();
        }
        self.tell(who, what);
    }

    async fn sync(&mut self, who: usize, dice: &mut Dice, faults: bool) -> Result<(), String> {
        let (number, now) = (self.machines[who].number, self.clock.0.load(Ordering::SeqCst));
        let machine = &mut self.machines[who];
        if let Some((chain, why)) =
            machine.shipped().and_then(|it| Some((it.chain?, it.stopped.clone()?)))
        {
            self.server.stop(number, chain, &why);
        }
        let answer = self.server.answer(number, now);
        if self.mechanisms.hear {
            machine.state.hear(&answer);
        }
        // A server may offer what it likes of what was signed.
        let offered = match faults && dice.below(5) == 0 {
            true => dice.at(VERSIONS),
            false => answer.documents as usize,
        };
        let (known, before) = (documents(), machine.membership.policy().heading().version);
        let bundle = known.bundles[offered].clone();
        let at = (now, "0.4.0");
        let taken = match self.mechanisms.check_documents {
            true => {
                machine.membership.take(bundle, &known.anchor, at, |_, _| Ok(())).map(|it| it.0)
            }
            false => {
                eclusa_fleet::Membership::begin(bundle, None, &known.anchor, at, |_, _| Ok(()))
            }
        };
        if let Ok(new) = taken {
            machine.membership = new;
        }
        let after = machine.membership.policy().heading().version;
        if after < before {
            return Err(format!("machine {who} went back from policy {before} to {after}"));
        }
        for it in answer.messages {
            // Refused or applied: both are told.
            let applied = machine.apply(&it.body, self.mechanisms.check_votes).await;
            if !faults || dice.below(5) > 0 {
                self.server.acknowledge(number, it.id);
            }
            self.told.push(format!("machine {who} takes an answer: {}", applied.is_ok()));
        }
        if !faults || dice.below(4) > 0 {
            self.machines[who].note();
        }
        Ok(())
    }

    /// Asks, for something new or for what was asked before.
    async fn ask(&mut self, who: usize, dice: &mut Dice) -> Result<(), String> {
        if self.bindings == 0 || dice.below(2) == 0 {
            self.bindings += 1;
        }
        let binding = format!("binding-{}", 1 + dice.below(self.bindings));
        let need = 1 + usize::from(binding.len() % 2 == 0) + (binding.ends_with('3') as usize);
        self.try_to_run(who, &binding, need).await
    }

    /// INVARIANT: a call runs only with the answers of as many people as its rule wants, who really gave them, and once.
    async fn try_to_run(&mut self, who: usize, binding: &str, need: usize) -> Result<(), String> {
        let machine = &self.machines[who];
        let Some(votes) = machine.ask(binding, need).await else { return Ok(()) };
        let place = (machine.id.clone(), binding.to_owned());
        // Of two copies each takes the same answer once, and whoever sets a machine back takes its memory of what ran.
        let said = if machine.copied { self.said.get(&place) } else { self.unused.get(&place) };
        let by: BTreeSet<String> = votes.iter().map(|it| it.by.clone()).collect();
        let real = said.map_or(0, |it| by.iter().filter(|name| it.contains(*name)).count());
        if real < need || by.len() > real {
            return Err(format!(
                "machine {who} ran `{binding}` by {by:?} of {said:?}, and {need} must say yes"
            ));
        }
        self.unused.remove(&place);
        self.tell(who, "runs what was asked about");
        Ok(())
    }

    /// Somebody answers a question that some machine has.
    async fn answer(&mut self, dice: &mut Dice) {
        let who = dice.at(self.machines.len());
        let open = self.machines[who].open_questions().await;
        if open.is_empty() {
            return;
        }
        let (id, binding, _) = open[dice.at(open.len())].clone();
        let (person, store) = (PEOPLE[dice.at(3)], self.machines[who].id.clone());
        let expires = self.clock.0.load(Ordering::SeqCst) + 60_000;
        let carried = signed_yes(person, (&store, id, &binding), expires);
        for said in [&mut self.said, &mut self.unused] {
            let place = (store.clone(), binding.clone());
            said.entry(place).or_default().insert(person.to_owned());
        }
        // Carried twice at times: the same again changes nothing.
        for _ in 0..=dice.below(2) {
            self.server.send(self.machines[who].number, carried.clone());
        }
        self.told.push(format!("somebody answers question {id} of machine {who}"));
    }

    /// A hostile server makes an answer up: of a key that nobody knows, for another store, question or binding, or under
    /// another name.
    async fn forge(&mut self, dice: &mut Dice) {
        let who = dice.at(self.machines.len());
        let open = self.machines[who].open_questions().await;
        if open.is_empty() {
            return;
        }
        let (id, binding, _) = open[dice.at(open.len())].clone();
        let store = self.machines[who].id.clone();
        let expires = self.clock.0.load(Ordering::SeqCst) + 60_000;
        let mut forged = match dice.below(4) {
            0 => signed_yes("mallory", (&store, id, &binding), expires),
            1 => signed_yes("ana", ("elsewhere", id, &binding), expires),
            2 => signed_yes("bo", (&store, id + 100, &binding), expires),
            _ => signed_yes("eve", (&store, id, "another"), expires),
        };
        forged.store = store;
        forged.question = id;
        if dice.below(2) == 0 {
            forged.person = PEOPLE[dice.at(3)].to_owned();
        }
        self.server.send(self.machines[who].number, forged);
        self.told.push(format!("an answer to question {id} of machine {who} is made up"));
    }

    /// Nothing fails any more, and everybody ships what there is.
    async fn rest(&mut self) -> Result<(), String> {
        for late in std::mem::take(&mut self.delayed) {
            drop(arrive(&self.server, late).await);
        }
        let mut dice = Dice::new(0);
        for _ in 0..6 {
            for who in 0..self.machines.len() {
                self.sync(who, &mut dice, false).await?;
                self.ship(who, &mut dice, false).await;
            }
        }
        let database = self.server.database().clone();
        // INVARIANT: what is kept of a chain is one chain, each record once.
        for chain in &database.chains {
            let records = self.server.records(chain)?;
            let owner =
                self.machines.iter().find(|it| it.number == chain.machine && it.id == chain.store);
            let Some(owner) = owner.filter(|it| !it.copied) else { continue };
            use eclusa::audit::Log as _;
            let own = owner.store().records(1, records.len() + 1).unwrap();
            let same = own
                .iter()
                .zip(&records)
                .all(|(own, kept)| own.hash == kept.hash && own.seq == kept.seq);
            if !same || own.len() != records.len() {
                return Err(format!(
                    "chain {} keeps {} records, and its machine has {} or others",
                    chain.id,
                    records.len(),
                    own.len()
                ));
            }
        }
        // INVARIANT: everything that a machine wrote is there, unless there were two of it.
        for (who, machine) in self.machines.iter().enumerate().filter(|it| !it.1.copied) {
            let stopped = machine.shipped().and_then(|it| it.stopped.clone());
            if let Some(why) = stopped {
                return Err(format!("machine {who} stopped without a copy: {why}"));
            }
            let chain = database.chains.iter().find(|it| it.machine == machine.number);
            let at = chain.map_or(0, |it| it.head.seq);
            if at != machine.head().seq {
                return Err(format!(
                    "machine {who} is at record {}, and the server has {at}",
                    machine.head().seq
                ));
            }
        }
        Ok(())
    }
}
