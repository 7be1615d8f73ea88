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
mod cell;
mod damaged;
mod edited;
mod hooked;
mod judged;
mod lasting;
mod modelled;
mod pages;
mod served;
mod shown;
mod typed;

use cell::{Case, Cell};

/// Where calls come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Surface {
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
}

/// What a person sets, and expects to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Setting {
    Modes,
    CountedRules,
    Allowances,
    Queue,
    AlwaysRules,
    Taint,
    Budget,
    UndoKeep,
    Reviewers,
    Redaction,
    Limits,
    Trust,
    Effects,
}

impl Surface {
    const ALL: [Surface; 12] = [
        Surface::Run,
        Surface::Feed,
        Surface::Exec,
        Surface::Ticket,
        Surface::Hook,
        Surface::Acp,
        Surface::Mcp,
        Surface::Guard,
        Surface::Ask,
        Surface::Chat,
        Surface::Undo,
        Surface::Resume,
    ];

    /// What it is called in the docs. It says which cells there are: a new surface is noticed here.
    fn title(self) -> &'static str {
        match self {
            Surface::Run => "run",
            Surface::Feed => "feed",
            Surface::Exec => "exec",
            Surface::Ticket => "an agent's commands",
            Surface::Hook => "an agent's tools",
            Surface::Acp => "acp",
            Surface::Mcp => "mcp",
            Surface::Guard => "guard",
            Surface::Ask => "ask",
            Surface::Chat => "chat",
            Surface::Undo => "undo, redo",
            Surface::Resume => "resume",
        }
    }
}

impl Setting {
    const ALL: [Setting; 13] = [
        Setting::Modes,
        Setting::CountedRules,
        Setting::Allowances,
        Setting::Queue,
        Setting::AlwaysRules,
        Setting::Taint,
        Setting::Budget,
        Setting::UndoKeep,
        Setting::Reviewers,
        Setting::Redaction,
        Setting::Limits,
        Setting::Trust,
        Setting::Effects,
    ];

    /// What it is called in the docs.
    fn title(self) -> &'static str {
        match self {
            Setting::Modes => "`[[modes]]`",
            Setting::CountedRules => "rules with `times`",
            Setting::Allowances => "`eclusa allow`",
            Setting::Queue => "`on_no_approver = \"queue\"`",
            Setting::AlwaysRules => "answers `always`",
            Setting::Taint => "text from outside",
            Setting::Budget => "`[effects.budget]`",
            Setting::UndoKeep => "`undo.keep`",
            Setting::Reviewers => "`[[reviewers]]`",
            Setting::Redaction => "`[[redact.rules]]`",
            Setting::Limits => "`limits.output`",
            Setting::Trust => "`eclusa config trust`",
            Setting::Effects => "`effects.max_…`",
        }
    }

    /// The cell of this setting at a surface.
    fn at(self, surface: Surface) -> Cell {
        match self {
            Setting::Modes => judged::modes(surface),
            Setting::CountedRules => judged::counted(surface),
            Setting::Allowances => judged::allowances(surface),
            Setting::Queue => judged::queue(surface),
            Setting::AlwaysRules => judged::always(surface),
            Setting::Taint => lasting::taint(surface),
            Setting::Budget => lasting::budget(surface),
            Setting::UndoKeep => lasting::undo_keep(surface),
            Setting::Reviewers => shown::reviewers(surface),
            Setting::Redaction => shown::redaction(surface),
            Setting::Limits => shown::limits(surface),
            Setting::Trust => judged::trust(surface),
            Setting::Effects => judged::effects(surface),
        }
    }
}

/// Cells that are empty for a reason. There may be fewer, and never more.
const EMPTY: usize = 22;

/// Cells that do not hold yet, with the number of the proof that shows it.
const NOT_YET: &[(Surface, Setting, u8)] = &[
    (Surface::Run, Setting::Modes, 7),
    (Surface::Feed, Setting::Modes, 7),
    (Surface::Exec, Setting::Modes, 7),
    (Surface::Ticket, Setting::Modes, 2),
    (Surface::Acp, Setting::Modes, 1),
    (Surface::Ask, Setting::Modes, 7),
    (Surface::Chat, Setting::Modes, 7),
    (Surface::Exec, Setting::CountedRules, 5),
    (Surface::Exec, Setting::Allowances, 6),
    (Surface::Ticket, Setting::Allowances, 6),
    (Surface::Exec, Setting::Queue, 6),
    (Surface::Hook, Setting::Budget, 4),
    (Surface::Ticket, Setting::Budget, 4),
    (Surface::Acp, Setting::Budget, 4),
    (Surface::Run, Setting::UndoKeep, 8),
    (Surface::Feed, Setting::UndoKeep, 8),
    (Surface::Exec, Setting::UndoKeep, 8),
    (Surface::Ticket, Setting::UndoKeep, 8),
    (Surface::Hook, Setting::UndoKeep, 8),
    (Surface::Acp, Setting::UndoKeep, 8),
    (Surface::Mcp, Setting::UndoKeep, 8),
    (Surface::Guard, Setting::UndoKeep, 8),
    (Surface::Ask, Setting::UndoKeep, 8),
    (Surface::Chat, Setting::UndoKeep, 8),
    (Surface::Undo, Setting::UndoKeep, 8),
    (Surface::Resume, Setting::UndoKeep, 8),
];

fn all() -> Vec<(Surface, Setting)> {
    let cells = Setting::ALL.into_iter();
    cells.flat_map(|setting| Surface::ALL.map(|surface| (surface, setting))).collect()
}

/// What is wrong with one cell.
fn wrong(surface: Surface, setting: Setting) -> Option<String> {
    let Cell::Holds(case) = setting.at(surface) else { return None };
    let name = format!("{surface:?}/{setting:?}");
    // To work on some of them: `ECLUSA_CELLS=Acp/`, `ECLUSA_CELLS=/Budget`.
    if std::env::var("ECLUSA_CELLS").is_ok_and(|wanted| !name.contains(&wanted)) {
        return None;
    }
    let played = catch_unwind(AssertUnwindSafe(|| case.wrong(surface)));
    let wrong = played.unwrap_or_else(|_| Some("cannot be played".to_owned()));
    let known = NOT_YET.iter().find(|it| (it.0, it.1) == (surface, setting));
    match (wrong, known) {
        (Some(why), None) => Some(format!("{name} {why}")),
        (None, Some((_, _, proof))) => {
            Some(format!("{name} holds: take it out of NOT_YET (proof {proof})"))
        }
        _ => None,
    }
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
    let is_empty = |it: &(Surface, Setting)| matches!(it.1.at(it.0), Cell::Lacks(_));
    let empty = all().iter().filter(|it| is_empty(it)).count();
    assert_eq!(empty, EMPTY, "where there are fewer, EMPTY is less from now on");
}
