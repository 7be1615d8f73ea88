//! A fleet in one process: machines with the real store, approval queue, shipping and documents, and the server's own
//! judgement of shipments, over a clock, a wire and a database that fail as they are told to. What happens is a list of
//! moves made from a seed: the same seed gives the same run. The database is a model in memory of the statements in
//! `store`; that those do the same is what the tests over PostgreSQL are for.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Instant,
};

use proptest::prelude::*;

mod database;
mod documents;
mod machine;
mod moves;
mod wire;

use moves::{Mechanisms, Move, moves_of, run};

/// So many seeds unless `ECLUSA_SIMULATION_SEEDS` says otherwise.
const SEEDS: u64 = 150;

fn failure(seed: u64, mechanisms: Mechanisms) -> Option<String> {
    let told = run(&moves_of(seed), mechanisms);
    told.err().map(|why| format!("seed {seed}: {why}"))
}

#[test]
fn every_seed_holds() {
    let seeds = std::env::var("ECLUSA_SIMULATION_SEEDS").ok().and_then(|it| it.parse().ok());
    let (seeds, next, began) = (seeds.unwrap_or(SEEDS), AtomicU64::new(0), Instant::now());
    let work = || {
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds {
                return None;
            }
            if let Some(why) = failure(seed, Mechanisms::ALL) {
                return Some(why);
            }
        }
    };
    let failed: Vec<String> = std::thread::scope(|scope| {
        let threads = [scope.spawn(work), scope.spawn(work)];
        threads.into_iter().filter_map(|it| it.join().unwrap()).collect()
    });
    let rate = seeds as f64 / began.elapsed().as_secs_f64() * 60.0;
    eprintln!("{seeds} seeds, {rate:.0} a minute");
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// Seeds whose moves need a mechanism, each another one. A seed that fails is kept here, too.
#[test]
fn kept_seeds_hold() {
    for seed in [0, 2, 3, 13, 68] {
        assert_eq!(failure(seed, Mechanisms::ALL), None);
    }
}

#[test]
fn the_same_seed_gives_the_same_run() {
    for seed in 0..5 {
        let moves = moves_of(seed);
        let (one, other) = (run(&moves, Mechanisms::ALL), run(&moves, Mechanisms::ALL));
        assert!(one.is_ok(), "seed {seed}: {one:?}");
        assert_eq!(one, other, "seed {seed}");
    }
}

/// What the simulation is for: a mechanism that is taken out is missed.
#[test]
fn a_mechanism_that_is_missing_is_noticed() {
    let without = [
        ("comparing heads", Mechanisms { compare: false, ..Mechanisms::ALL }),
        ("asking whose chain it is", Mechanisms { owner: false, ..Mechanisms::ALL }),
        ("checking votes", Mechanisms { check_votes: false, ..Mechanisms::ALL }),
        ("checking documents", Mechanisms { check_documents: false, ..Mechanisms::ALL }),
        ("telling what is lost", Mechanisms { hear: false, ..Mechanisms::ALL }),
    ];
    for (what, mechanisms) in without {
        let noticed = (0..200).find_map(|seed| failure(seed, mechanisms));
        let noticed = noticed.unwrap_or_else(|| panic!("nobody misses {what}"));
        eprintln!("without {what}: {}", noticed.lines().next().unwrap_or_default());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The same over moves that shrink to the few that matter.
    #[test]
    fn no_moves_lose_a_record_or_forge_an_answer(
        moves in proptest::collection::vec((0_u8..=255, 0_u8..4, any::<u64>()), 1..80),
    ) {
        let moves: Vec<Move> = moves.into_iter().map(|(kind, who, roll)| Move { kind, who, roll }).collect();
        let told = run(&moves, Mechanisms::ALL);
        prop_assert!(told.is_ok(), "{told:?}");
    }
}
