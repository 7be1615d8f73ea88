//! One search: which files, what is found in them, and what is said of it.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

use eclusa::{
    Files, Output, ToolError, one_line,
    policy::HiddenPaths,
    workspace::{FileError, Opened, files::Kind},
};
use grep_regex::RegexMatcher;
use grep_searcher::{BinaryDetection, MmapChoice, Searcher, SearcherBuilder};
use ignore::types::{Types, TypesBuilder};

use super::{
    cancel::Cancel,
    collector::{InFile, Keeper},
    grep::{GrepArgs, OutputShape},
    matches::Matches,
    messages,
    names::NamePattern,
    page::ResultPage,
    report::SearchReport,
    walk::{Ground, LeftOut, Visit},
};

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1000;
/// A line longer than this, or with `multiline` a file, is not searched.
const MAX_LINE: usize = 8 << 20;

pub(super) fn grep(
    files: &Files,
    hidden: &HiddenPaths,
    args: &GrepArgs,
    cancel: &Cancel,
) -> Result<Output, ToolError> {
    let (offset, limit) = messages::window(args.offset, args.limit, DEFAULT_LIMIT, MAX_LIMIT)?;
    let shape = args.output.unwrap_or_default();
    let (before, after) = if shape == OutputShape::Content { args.around() } else { (0, 0) };
    let mut how = SearcherBuilder::new();
    how.binary_detection(BinaryDetection::quit(0))
        .memory_map(MmapChoice::never())
        .heap_limit(Some(MAX_LINE))
        .multi_line(args.multiline.unwrap_or(false))
        .line_number(shape == OutputShape::Content)
        .before_context(before)
        .after_context(after);
    let needed = offset + limit + 1;
    let mut seek = Seek {
        files: files.clone(),
        regex: args.regex()?,
        names: args.glob.as_deref().map(NamePattern::new).transpose()?,
        from: PathBuf::new(),
        how,
        shape,
        needed,
        cancel: cancel.clone(),
        first: Mutex::new(Matches::new(needed, shape != OutputShape::Content)),
        counts: Mutex::new(ResultPage::new(offset, limit)),
        tally: Tally::default(),
    };
    let types = args.file_type.as_deref().map(types).transpose()?;
    let (asked, ignored) = (messages::asked(args.path.as_deref()), args.ignored.unwrap_or(false));
    let (seek, left_out) = match Ground::new(files, hidden.clone(), asked, ignored) {
        Ok(ground) => {
            messages::permitted(hidden, asked, &ground.from)?;
            seek.from.clone_from(&ground.from);
            let seek = Arc::new(seek);
            let left_out = Ground { types, ..ground }.walk(&seek, cancel);
            (seek, left_out)
        }
        Err(FileError::NotADirectory { .. }) => {
            let opened = files.file(asked).map_err(messages::unreachable)?;
            messages::permitted(hidden, asked, &opened.path)?;
            seek.from.clone_from(&opened.path);
            seek.search(&mut seek.how.build(), opened);
            (Arc::new(seek), LeftOut::default())
        }
        Err(err) => return Err(messages::unreachable(err)),
    };
    let report = SearchReport {
        from: &seek.from,
        pattern: &args.pattern,
        glob: args.glob.as_deref().or(args.file_type.as_deref()),
        offset,
        limit,
        tally: &seek.tally,
        left_out: &left_out,
    };
    Ok(match shape {
        OutputShape::Count => {
            let counts = std::mem::replace(&mut *seek.counts(), ResultPage::new(0, 0));
            report.counts(counts)
        }
        OutputShape::Files => report.files(seek.take_first()),
        OutputShape::Content => report.content(seek.take_first(), before + after > 0),
    })
}

/// How many files, and what became of them.
#[derive(Debug, Default)]
pub(super) struct Tally {
    pub(super) searched: AtomicUsize,
    pub(super) matches: AtomicUsize,
    pub(super) binary: AtomicUsize,
    pub(super) long: AtomicUsize,
    pub(super) unreadable: AtomicUsize,
}

struct Seek {
    files: Files,
    regex: RegexMatcher,
    names: Option<NamePattern>,
    from: PathBuf,
    how: SearcherBuilder,
    shape: OutputShape,
    needed: usize,
    cancel: Cancel,
    first: Mutex<Matches>,
    counts: Mutex<ResultPage<usize>>,
    tally: Tally,
}

impl Seek {
    fn first(&self) -> MutexGuard<'_, Matches> {
        self.first.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn counts(&self) -> MutexGuard<'_, ResultPage<usize>> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_first(&self) -> Matches {
        std::mem::replace(&mut *self.first(), Matches::new(0, true))
    }

    fn want(&self, path: &Path) -> bool {
        self.shape == OutputShape::Count || self.first().want(path)
    }

    fn search(&self, searcher: &mut Searcher, opened: Opened) {
        let most = match self.shape {
            OutputShape::Content => self.needed,
            OutputShape::Files => 1,
            OutputShape::Count => usize::MAX,
        };
        let mut keeper = Keeper {
            regex: &self.regex,
            cancel: &self.cancel,
            most,
            lines: self.shape == OutputShape::Content,
            found: InFile::default(),
        };
        let watched = CancellableFile { file: opened.file, cancel: &self.cancel };
        let searched = searcher.search_reader(&self.regex, watched, &mut keeper);
        let (found, tally) = (keeper.found, &self.tally);
        match searched {
            _ if found.binary => {
                tally.binary.fetch_add(1, Relaxed);
                return;
            }
            Ok(()) => tally.searched.fetch_add(1, Relaxed),
            // Neither the file nor whoever cancels: a line does not fit into the searcher's buffer.
            Err(err) if err.raw_os_error().is_none() && !self.cancel.is_called() => {
                tally.long.fetch_add(1, Relaxed)
            }
            Err(_) => tally.unreadable.fetch_add(1, Relaxed),
        };
        if found.matches == 0 {
            return;
        }
        tally.matches.fetch_add(found.matches, Relaxed);
        match self.shape {
            OutputShape::Count => self.counts().add(&opened.path, found.matches),
            OutputShape::Content | OutputShape::Files => self.first().add(&opened.path, found),
        }
    }
}

impl Visit for Seek {
    fn see(&self, path: &Path, kind: Kind) -> bool {
        let below = path.strip_prefix(&self.from).unwrap_or(path);
        match kind {
            Kind::Directory => self.want(path),
            Kind::File => self.names.as_ref().is_none_or(|it| it.fit(below)) && self.want(path),
            _ => false,
        }
    }

    fn worker(&self) -> Box<dyn FnMut(&Path) + Send + '_> {
        let mut searcher = self.how.build();
        Box::new(move |path| {
            if !self.want(path) {
                return;
            }
            match self.files.reach(path) {
                // A link that was put there meanwhile leads to a file that is searched anyway.
                Ok(opened) if opened.path == path => self.search(&mut searcher, opened),
                _ => {
                    self.tally.unreadable.fetch_add(1, Relaxed);
                }
            }
        })
    }
}

/// A file that has no more to say when nobody waits for it any more.
struct CancellableFile<'a> {
    file: File,
    cancel: &'a Cancel,
}

impl Read for CancellableFile<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match self.cancel.is_called() {
            true => Err(io::Error::other("halted")),
            false => self.file.read(into),
        }
    }
}

fn types(asked: &str) -> Result<Types, ToolError> {
    let mut builder = TypesBuilder::new();
    builder.add_defaults().select(asked);
    builder.build().map_err(|_| {
        let asked = one_line(asked);
        ToolError::new(format!(
            "`{asked}` is not a known type of file; use `glob` instead, such as `*.{asked}`"
        ))
    })
}
