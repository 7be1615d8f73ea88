//! Parts of the home that commands may write to without anything of it reaching the home directory: the caches of a
//! person's tools, in a private copy that lasts for the workspace, so that builds are warm; and the settings and data
//! that programs keep for themselves, in one that lasts for the session, because nobody would see more of it later.
//!
//! ```text
//! STATE/caches/lock            held by the one command that has the copy
//! STATE/caches/boot            there while a command has it: after a crash the copy is thrown away
//! STATE/caches/NAME/upper      what was written over a directory of the home
//! STATE/caches/own             caches for which the home has no directory, seen as /run/cache
//! STATE/tmp/SESSION/home       the same for the settings of a session, seen as /run/home
//! ```

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::OnceLock,
    time::{Duration, SystemTime},
};

use eclusa_sandbox::{
    HostCapabilities, Layer, LayerPool, OverlayHazard, Plan, PrivateMount, Staging,
    overlay_hazards, scan::discard,
};

use super::{SandboxSettings, private};

/// A copy that nobody has used for this long is removed.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 3600);
/// A kind of cache: where it is, and the variable by which it can be elsewhere.
#[derive(Debug)]
struct Kind {
    name: &'static str,
    /// The variable that names the directory above, and what it is beneath the home otherwise.
    base: (&'static str, &'static str),
    /// Beneath that.
    beneath: &'static str,
    /// What a tool is told where the directory is missing, if it would fail without.
    instead: Option<&'static str>,
}

const CACHES: [Kind; 9] = [
    Kind {
        name: "xdg",
        base: ("XDG_CACHE_HOME", ".cache"),
        beneath: "",
        instead: Some("XDG_CACHE_HOME"),
    },
    Kind {
        name: "npm",
        base: ("npm_config_cache", ".npm"),
        beneath: "",
        instead: Some("npm_config_cache"),
    },
    Kind {
        name: "cargo-registry",
        base: ("CARGO_HOME", ".cargo"),
        beneath: "registry",
        instead: Some("CARGO_HOME"),
    },
    Kind { name: "cargo-git", base: ("CARGO_HOME", ".cargo"), beneath: "git", instead: None },
    Kind { name: "go", base: ("GOPATH", "go"), beneath: "pkg", instead: Some("GOMODCACHE") },
    Kind { name: "ccache", base: ("CCACHE_DIR", ".ccache"), beneath: "", instead: None },
    Kind { name: "gradle", base: ("GRADLE_USER_HOME", ".gradle"), beneath: "", instead: None },
    Kind { name: "maven", base: ("", ".m2"), beneath: "repository", instead: None },
    Kind { name: "pnpm", base: ("", ".local/share/pnpm"), beneath: "store", instead: None },
];

/// What programs keep for themselves.
const SETTINGS: [Kind; 3] = [
    Kind {
        name: "config",
        base: ("XDG_CONFIG_HOME", ".config"),
        beneath: "",
        instead: Some("XDG_CONFIG_HOME"),
    },
    Kind {
        name: "share",
        base: ("XDG_DATA_HOME", ".local/share"),
        beneath: "",
        instead: Some("XDG_DATA_HOME"),
    },
    Kind {
        name: "state",
        base: ("XDG_STATE_HOME", ".local/state"),
        beneath: "",
        instead: Some("XDG_STATE_HOME"),
    },
];

/// In which of these nothing is written all the same: what programs run by themselves, and where they fetch from.
const SEALED: [(&str, &[&str]); 2] = [
    (
        "config",
        &["autostart", "environment.d", "fish", "git", "npm", "pip", "pnpm", "systemd", "uv"],
    ),
    ("share", &["applications", "dbus-1", "fish", "systemd"]),
];

/// The caches of a workspace, or the settings of a session.
#[derive(Debug)]
pub(super) struct Caches {
    place: PathBuf,
    kinds: &'static [Kind],
    /// Where is seen what the home has no directory for.
    own: &'static str,
    /// Whether a command that cannot have the copy is shown what is in it.
    shows_copy: bool,
    found: OnceLock<FoundCaches>,
}

/// Which directories there are, and what is told of those that there are not.
#[derive(Debug, Default)]
struct FoundCaches {
    there: Vec<(&'static str, PathBuf)>,
    instead: Vec<(&'static str, &'static str)>,
    /// Where those are seen all the same.
    made: Vec<(&'static str, PathBuf)>,
}

/// The caches that one command writes to: the copy that lasts, or, because another command has that,
/// a layer that goes with the command. Held until it has ended.
#[derive(Debug, Default)]
pub(super) struct CacheLayers {
    lasting: Vec<Lasting>,
    passing: Vec<Layer>,
}

impl CacheLayers {
    /// All of these, if there are any.
    pub(super) fn of(
        several: impl Iterator<Item = io::Result<Option<CacheLayers>>>,
    ) -> io::Result<Option<CacheLayers>> {
        let mut all: Option<CacheLayers> = None;
        for one in several {
            let Some(mut one) = one? else { continue };
            let all = all.get_or_insert_with(CacheLayers::default);
            all.lasting.append(&mut one.lasting);
            all.passing.append(&mut one.passing);
        }
        Ok(all)
    }

    /// Leaves them to somebody else: the locks that are held, and what is removed at the end.
    pub(super) fn leave(self) -> (Vec<File>, Vec<PathBuf>) {
        let lasting = self.lasting.into_iter().filter_map(Lasting::leave);
        let passing = self.passing.into_iter().filter_map(Layer::leave);
        let passing = passing.map(|(path, lock)| (lock, path));
        lasting.chain(passing).unzip()
    }
}

/// The copy, held by one command at a time.
#[derive(Debug)]
pub(super) struct Lasting {
    boot: PathBuf,
    lock: Option<File>,
}

impl Lasting {
    fn leave(mut self) -> Option<(File, PathBuf)> {
        self.lock.take().map(|it| (it, self.boot.clone()))
    }
}

impl Caches {
    /// Caches beneath this directory of state.
    pub(super) fn new(state: &Path) -> Caches {
        let place = state.join("caches");
        Caches {
            place,
            kinds: &CACHES,
            own: "/run/cache",
            shows_copy: false,
            found: OnceLock::new(),
        }
    }

    /// The settings of a session, in this directory.
    pub(super) fn of_session(place: PathBuf) -> Caches {
        Caches {
            place,
            kinds: &SETTINGS,
            own: "/run/home",
            shows_copy: true,
            found: OnceLock::new(),
        }
    }

    /// Where they are: nobody's business inside a sandbox.
    pub(super) fn place(&self) -> &Path {
        &self.place
    }

    /// Whether a command has written anything there: whoever only reads has to be shown it then.
    pub(super) fn hold_something(&self) -> bool {
        let any = |path: PathBuf, sealed: &[&str]| {
            let entries = fs::read_dir(path).into_iter().flatten().flatten();
            entries.map(|it| it.file_name()).any(|it| !sealed.iter().any(|name| it == **name))
        };
        self.kinds.iter().any(|kind| any(self.place.join("own").join(kind.name), &[]))
            || self.kinds.iter().any(|kind| {
                let sealed = SEALED.iter().find(|it| it.0 == kind.name).map_or(&[][..], |it| it.1);
                any(self.place.join(kind.name).join("upper"), sealed)
            })
    }

    /// Gives a plan its caches. A command that goes on in the background takes the copy from nobody.
    pub(super) fn furnish(
        &self,
        plan: &mut Plan,
        settings: &SandboxSettings,
        capabilities: &HostCapabilities,
        pool: &LayerPool,
        background: bool,
    ) -> io::Result<Option<CacheLayers>> {
        let Some(home) = &settings.home else { return Ok(None) };
        // Where the state cannot carry layers, nothing lasts.
        let carried = capabilities.layers() == Some(&settings.state);
        let lasting = if background || !carried { None } else { self.lock()? };
        let passing = if lasting.is_none() { Some(pool.take()?) } else { None };
        let place = passing.as_ref().map_or_else(|| self.place.clone(), Layer::upper);
        let found = match self.found.get() {
            Some(found) => found,
            None => {
                let found = self.find(home, settings, capabilities, &place)?;
                self.found.get_or_init(|| found)
            }
        };
        for (name, lower) in &found.there {
            let copy = self.place.join(name).join("upper");
            let covered = self.shows_copy && place != self.place && copy.is_dir();
            let covers = if covered { vec![copy] } else { Vec::new() };
            plan.stage.push(Staging { covers, ..staging(&place, name, lower)? });
            let sealed = SEALED.iter().filter(|it| it.0 == *name).flat_map(|it| it.1);
            plan.sealed.extend(sealed.map(|it| lower.join(it)));
        }
        let own = if self.shows_copy { self.place.join("own") } else { place.join("own") };
        private(&own)?;
        for (name, target) in &found.made {
            private(&own.join(name))?;
            plan.mounts.push(PrivateMount { source: own.join(name), target: target.clone() });
            plan.made.push(target.clone());
        }
        plan.mounts.push(PrivateMount { source: own, target: self.own.into() });
        for (variable, name) in &found.instead {
            plan.env.retain(|(it, _)| it != variable);
            plan.env.push(((*variable).into(), format!("{}/{name}", self.own).into()));
        }
        let (lasting, passing) = (lasting.into_iter().collect(), passing.into_iter().collect());
        Ok(Some(CacheLayers { lasting, passing }))
    }

    /// The copy, if nobody has it.
    fn lock(&self) -> io::Result<Option<Lasting>> {
        private(&self.place)?;
        let lock = self.place.join("lock");
        let lock = OpenOptions::new().create(true).append(true).open(lock)?;
        if lock.try_lock().is_err() {
            return Ok(None);
        }
        lock.set_modified(SystemTime::now())?;
        let boot = self.place.join("boot");
        let now = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        if fs::read_to_string(&boot).is_ok_and(|it| it != now) {
            // What was written then may never have reached the disk.
            self.clear()?;
        }
        let mut file = File::create(&boot)?;
        file.write_all(now.as_bytes())?;
        Ok(Some(Lasting { boot, lock: Some(lock) }))
    }

    fn clear(&self) -> io::Result<()> {
        for entry in fs::read_dir(&self.place)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                discard(&entry.path())?;
            }
        }
        Ok(())
    }

    /// Removes the copy where nobody has used it for long, and says how much that was.
    pub(super) fn sweep(&self) -> io::Result<usize> {
        let Ok(lock) = File::open(self.place.join("lock")) else { return Ok(0) };
        let age = lock.metadata()?.modified()?.elapsed().unwrap_or_default();
        if age > MAX_AGE && lock.try_lock().is_ok() {
            discard(&self.place)?;
            return Ok(1);
        }
        Ok(0)
    }

    fn find(
        &self,
        home: &Path,
        settings: &SandboxSettings,
        capabilities: &HostCapabilities,
        place: &Path,
    ) -> io::Result<FoundCaches> {
        let mut found = FoundCaches::default();
        for kind in self.kinds {
            let lower = directory(kind, home, &settings.env);
            let usable = match &lower {
                Some(lower) => self.is_usable(kind, lower, settings, capabilities, place)?,
                None => false,
            };
            match (lower, kind.instead) {
                (Some(lower), _) if usable => found.there.push((kind.name, lower)),
                (_, Some(variable)) => {
                    found.instead.push((variable, kind.name));
                    found.made.extend(self.missing(kind, home, settings).map(|it| (kind.name, it)));
                }
                (_, None) => {}
            }
        }
        Ok(found)
    }

    /// Where the settings of a session would be below a home that has no such directory.
    fn missing(&self, kind: &Kind, home: &Path, settings: &SandboxSettings) -> Option<PathBuf> {
        let named = settings.env.iter().any(|(name, _)| name == kind.base.0);
        if !self.shows_copy || named || home.canonicalize().ok()? != home {
            return None;
        }
        let target = home.join(kind.base.1);
        let apart = |it: &Path| !it.starts_with(&target) && !target.starts_with(it);
        let above = target.ancestors().skip(1).find(|it| it.symlink_metadata().is_ok())?;
        let plain = above.symlink_metadata().ok()?.is_dir();
        let is_gone = target.symlink_metadata().is_err();
        let own = ["/tmp", "/var/tmp", "/run", "/dev", "/proc", "/sys"];
        let covered = own.iter().any(|it| home.starts_with(it));
        (is_gone && plain && !covered && apart(&settings.root) && apart(&self.place))
            .then_some(target)
    }

    /// Whether a layer can be laid over a directory: it has nothing to do with the workspace or the
    /// layers themselves, and nothing gets in the way.
    fn is_usable(
        &self,
        kind: &Kind,
        lower: &Path,
        settings: &SandboxSettings,
        capabilities: &HostCapabilities,
        place: &Path,
    ) -> io::Result<bool> {
        let apart = |it: &Path| !it.starts_with(lower) && !lower.starts_with(it);
        if !apart(&settings.root) || !apart(&self.place) || !apart(place) {
            return Ok(false);
        }
        let staging = staging(place, kind.name, lower)?;
        let hazards = overlay_hazards(&staging).unwrap_or_else(|_| vec![OverlayHazard::OnOverlay]);
        let fatal = |it: &OverlayHazard| *it != OverlayHazard::Used && it.is_fatal(capabilities);
        Ok(!hazards.iter().any(fatal))
    }
}

impl Drop for Lasting {
    #[expect(clippy::disallowed_methods, reason = "a mark of its own")]
    fn drop(&mut self) {
        if self.lock.is_some() {
            let _ = fs::remove_file(&self.boot);
        }
    }
}

/// Where a cache is, if it is there.
fn directory(kind: &Kind, home: &Path, env: &[(OsString, OsString)]) -> Option<PathBuf> {
    let named = env.iter().find(|(name, _)| !kind.base.0.is_empty() && name == kind.base.0);
    let base = named.map_or_else(|| home.join(kind.base.1), |(_, value)| PathBuf::from(value));
    let path = if kind.beneath.is_empty() { base } else { base.join(kind.beneath) };
    path.canonicalize().ok().filter(|it| it.is_absolute() && it.is_dir())
}

/// The layer over one cache. What the overlay keeps for itself is made anew each time.
fn staging(place: &Path, name: &str, lower: &Path) -> io::Result<Staging> {
    let here = place.join(name);
    let (upper, work) = (here.join("upper"), here.join("work"));
    private(&upper)?;
    fs::set_permissions(&upper, fs::metadata(lower)?.permissions())?;
    if work.exists() {
        discard(&work)?;
    }
    fs::create_dir(&work)?;
    Ok(Staging { lower: lower.to_owned(), covers: Vec::new(), upper, work, live: Vec::new() })
}
