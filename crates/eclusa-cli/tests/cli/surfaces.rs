//! Every surface holds what is configured: a table of surfaces and settings, played through the
//! binary with each setting and without it. Where both look the same, the cell fails: none can pass
//! by doing nothing. A surface or a setting that is not in the table does not compile.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

mod acts;
mod applied;
mod beside;
mod cell;
mod damaged;
mod edited;
mod hooked;
mod judged;
mod keys;
mod lasting;
mod modelled;
mod pages;
mod served;
mod shown;
mod typed;

use cell::Case;
// The program's own list of surfaces and settings, and of what does not hold where.
use eclusa_app::surface::{Setting, Surface};

/// A way in that is played. `guard` serves its tools as `mcp` does, and is played by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Run,
    Feed,
    Exec,
    Ticket,
    Hook,
    Acp,
    Mcp,
    Guard,
    Ask,
    Chat,
    Undo,
    Resume,
    Check,
    Rehearsal,
    Plan,
    Yes,
    Apply,
}

impl Door {
    /// The doors of a surface of the program: a new one does not compile until it is played.
    fn of(surface: Surface) -> &'static [Door] {
        match surface {
            Surface::Run => &[Door::Run],
            Surface::Feed => &[Door::Feed],
            Surface::Exec => &[Door::Exec],
            Surface::Ticket => &[Door::Ticket],
            Surface::Hook => &[Door::Hook],
            Surface::Acp => &[Door::Acp],
            Surface::Mcp => &[Door::Mcp, Door::Guard],
            Surface::Ask => &[Door::Ask],
            Surface::Chat => &[Door::Chat],
            Surface::Undo => &[Door::Undo],
            Surface::Resume => &[Door::Resume],
            Surface::Check => &[Door::Check],
            Surface::Rehearsal => &[Door::Rehearsal],
            Surface::Plan => &[Door::Plan],
            Surface::Yes => &[Door::Yes],
            Surface::Apply => &[Door::Apply],
        }
    }

    /// Those that run shell text, or apply what it did, and nothing else.
    fn runs_commands(self) -> bool {
        matches!(self, Door::Exec | Door::Ticket) || self.is_taken()
    }

    /// Those that apply what ran before.
    fn is_taken(self) -> bool {
        matches!(self, Door::Yes | Door::Apply)
    }
}

/// How a setting is played at a door; `None`: it does not apply there, for the reason that
/// [`Surface::lacks`] gives. A new setting does not compile until it is played.
fn case(setting: Setting, door: Door) -> Option<Case> {
    match setting {
        Setting::Modes => judged::modes(door),
        Setting::CountedRules => judged::counted(door),
        Setting::Allowances => judged::allowances(door),
        Setting::Queue => judged::queue(door),
        Setting::AlwaysRules => judged::always(door),
        Setting::Taint => lasting::taint(door),
        Setting::Budget => lasting::budget(door),
        Setting::UndoKeep => lasting::undo_keep(door),
        Setting::Reviewers => shown::reviewers(door),
        Setting::Redaction => shown::redaction(door),
        Setting::Limits => shown::limits(door),
        Setting::Trust => judged::trust(door),
        Setting::DenyByEffect => judged::effects(door),
        Setting::Observers => beside::observers(door),
        Setting::OwnTools => beside::own_tools(door),
        Setting::JobProcesses => beside::job_processes(door),
        Setting::Ahead => beside::ahead(door),
        Setting::Fleet => beside::fleet(door),
    }
}

/// Cells that are empty for a reason: of the surfaces and settings that were there first, of the surfaces that came
/// since, and of the settings that came since. There may be fewer, and never more.
const EMPTY: [usize; 3] = [23, 25, 36];

/// So many surfaces and settings were there first.
const FIRST: (usize, usize) = (12, 13);

fn all() -> Vec<(Surface, Setting)> {
    let settings = Setting::ALL.iter();
    settings.flat_map(|setting| Surface::ALL.iter().map(|it| (*it, *setting))).collect()
}

/// What is wrong with the cells of a surface and a setting.
fn wrong(surface: Surface, setting: Setting) -> Vec<String> {
    let one = |door: &Door| {
        let name = format!("{door:?}/{setting:?}");
        // To work on some of them: `ECLUSA_CELLS=Acp/`, `ECLUSA_CELLS=/Budget`.
        if std::env::var("ECLUSA_CELLS").is_ok_and(|wanted| !name.contains(&wanted)) {
            return None;
        }
        let why = match (case(setting, *door), surface.lacks(setting)) {
            (Some(case), None) => catch_unwind(AssertUnwindSafe(|| case.wrong(*door)))
                .unwrap_or_else(|_| Some("cannot be played".to_owned())),
            (None, Some(_)) => None,
            (None, None) => Some("is not played, and has no reason".to_owned()),
            (Some(_), Some(reason)) => Some(format!("is played, and has a reason: {reason}")),
        };
        why.map(|why| format!("{name} {why}"))
    };
    Door::of(surface).iter().filter_map(one).collect()
}

#[test]
fn every_surface_holds_what_is_configured() {
    let cells = all();
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(4, |it| it.get() * 2).min(16);
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((surface, setting)) = cells.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let wrong = wrong(*surface, *setting);
                    found.lock().unwrap_or_else(PoisonError::into_inner).extend(wrong);
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    assert!(found.is_empty(), "{} cells do not hold:\n{}", found.len(), found.join("\n"));
}

#[test]
fn empty_cells_only_become_fewer() {
    let mut empty = [0; 3];
    for (column, surface) in Surface::ALL.iter().enumerate() {
        for (row, setting) in Setting::ALL.iter().enumerate() {
            let part = match (column < FIRST.0, row < FIRST.1) {
                (true, true) => 0,
                (false, true) => 1,
                (_, false) => 2,
            };
            empty[part] += usize::from(surface.lacks(*setting).is_some());
        }
    }
    assert_eq!(empty, EMPTY, "where there are fewer, EMPTY is less from now on");
}
