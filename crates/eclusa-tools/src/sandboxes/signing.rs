//! Where git in a sandbox hands over what is to be signed: the person's own program signs it outside, where the
//! key is, and only what a person said yes to.
//!
//! ```text
//! STATE/sign/ID           seen as /run/eclusa-sign by this command alone
//! STATE/sign/ID/sign      the program that git calls: it puts a text down and waits for the signature
//! STATE/sign/ID/N.ask     a text; N.yes: its signature; N.no: why there is none
//! ```
//!
//! No socket of an agent is in the sandbox: whoever holds one can have anything signed, and an agent is not told
//! what it signs. Here each text is read first.

use std::{
    ffi::{OsStr, OsString},
    fs::{DirBuilder, File},
    io::{self, Read as _, Write as _},
    os::unix::{ffi::OsStrExt as _, fs::DirBuilderExt as _},
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use eclusa_git::ToSign;
use eclusa_sandbox::{GitSigner, Plan, PrivateMount, Signing, scan::discard, set_git_signer};
use rustix::fs::{Dir, FileType, Mode, OFlags, fstat, open, openat, renameat};

use super::private;

/// Where a command sees it.
const TARGET: &str = "/run/eclusa-sign";
/// What git is told to sign with.
const PROGRAM: &str = "sign";
const SCRIPT: &str = include_str!("signing/sign.sh");
/// How often it is looked whether there is something to sign.
const LOOK: Duration = Duration::from_millis(10);
/// How long a text may be.
const MAX_TEXT: u64 = 64 << 10;
/// How much may be signed for one command.
const MAX_SIGNATURES: usize = 1000;

/// What a command has signed, as part of an order: where it hands it over, and what is to be signed.
#[derive(Debug, Clone)]
pub struct SigningPlace {
    source: PathBuf,
    signing: Signing,
}

impl SigningPlace {
    /// Shows the place to a command, whose git then signs.
    pub(super) fn furnish(&self, plan: &mut Plan) {
        let program = Path::new(TARGET).join(PROGRAM);
        set_git_signer(&mut plan.env, self.signing, program.as_os_str());
        plan.mounts.push(PrivateMount { source: self.source.clone(), target: TARGET.into() });
        plan.hide.extend(self.source.parent().map(Path::to_owned));
    }
}

/// Signs for one command, as long as this is held.
#[derive(Debug)]
pub(crate) struct SigningService {
    place: SigningPlace,
    ended: Arc<AtomicBool>,
    done: Arc<Mutex<Signatures>>,
    thread: Option<JoinHandle<()>>,
}

/// What was signed, and what was not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Signatures {
    /// How many texts were signed.
    pub(crate) made: usize,
    /// Why others were not.
    pub(crate) refused: Option<String>,
}

impl SigningService {
    /// Signs these, and nothing else.
    pub(crate) fn open(
        state: &Path,
        signer: GitSigner,
        signing: Signing,
        only: ToSign,
    ) -> io::Result<SigningService> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let above = state.join("sign");
        private(&above)?;
        let (id, number) = (std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let source = above.join(format!("{id}-{number}"));
        // What a program that died has left.
        discard(&source)?;
        DirBuilder::new().mode(0o700).create(&source)?;
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let directory: File = open(&source, flags, Mode::empty())?.into();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let program = openat(&directory, PROGRAM, flags, Mode::from_bits_truncate(0o500))?;
        File::from(program).write_all(SCRIPT.as_bytes())?;
        // What the program of the person needs lies where no sandbox sees it.
        let beside = above.join(format!("{id}-{number}-own"));
        discard(&beside)?;
        DirBuilder::new().mode(0o700).create(&beside)?;
        let (ended, done) = (Arc::new(AtomicBool::new(false)), Arc::<Mutex<Signatures>>::default());
        let mut worker = SigningWorker { directory, beside, signer, only, done: done.clone() };
        let until = ended.clone();
        let thread = std::thread::spawn(move || {
            while !until.load(Ordering::Acquire) {
                if worker.look().is_err() {
                    return;
                }
                std::thread::sleep(LOOK);
            }
        });
        let place = SigningPlace { source, signing };
        Ok(SigningService { place, ended, done, thread: Some(thread) })
    }

    /// What a command is shown of it.
    pub(crate) fn place(&self) -> SigningPlace {
        self.place.clone()
    }

    /// What was signed so far.
    pub(crate) fn signatures(&self) -> Signatures {
        self.done.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for SigningService {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        let mut beside = self.place.source.clone().into_os_string();
        beside.push("-own");
        for path in [self.place.source.clone(), beside.into()] {
            if let Err(err) = discard(&path) {
                tracing::warn!("`{}` stays behind: {err}", path.display());
            }
        }
    }
}

struct SigningWorker {
    directory: File,
    beside: PathBuf,
    signer: GitSigner,
    only: ToSign,
    done: Arc<Mutex<Signatures>>,
}

impl SigningWorker {
    /// Answers what has been put down and has no answer yet.
    fn look(&mut self) -> io::Result<()> {
        let entries = Dir::read_from(&self.directory)?;
        let names: Vec<OsString> = entries
            .flatten()
            .map(|it| OsStr::from_bytes(it.file_name().to_bytes()).to_owned())
            .collect();
        for name in &names {
            let Some(number) = name.to_str().and_then(|it| it.strip_suffix(".ask")) else {
                continue;
            };
            let (yes, no) = (format!("{number}.yes"), format!("{number}.no"));
            if names.iter().any(|it| *it == *yes || *it == *no) {
                continue;
            }
            match self.sign(name) {
                Ok(signature) => self.put(&yes, &signature)?,
                Err(why) => {
                    self.put(&no, format!("{why}\n").as_bytes())?;
                    let mut done = self.done.lock().unwrap_or_else(PoisonError::into_inner);
                    done.refused.get_or_insert(why);
                }
            }
        }
        Ok(())
    }

    fn sign(&mut self, name: &OsStr) -> Result<Vec<u8>, String> {
        let text = self.read(name).map_err(|err| format!("it cannot be read: {err}"))?;
        if !self.only.covers(&text) {
            return Err("it is not what a person said yes to".to_owned());
        }
        let made = self.done.lock().unwrap_or_else(PoisonError::into_inner).made;
        if made >= MAX_SIGNATURES {
            return Err(format!("more than {MAX_SIGNATURES} signatures for one command"));
        }
        let signature = self.signer.sign(&text, &self.beside)?;
        self.only.signed(&text, &signature);
        self.done.lock().unwrap_or_else(PoisonError::into_inner).made += 1;
        Ok(signature)
    }

    fn read(&self, name: &OsStr) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = openat(&self.directory, name, flags, Mode::empty())?;
        let about = fstat(&file)?;
        let is_file = FileType::from_raw_mode(about.st_mode) == FileType::RegularFile;
        if !is_file || about.st_size > MAX_TEXT as i64 {
            return Err(io::Error::other("no file of a length that can be signed"));
        }
        let mut text = Vec::new();
        File::from(file).take(MAX_TEXT).read_to_end(&mut text)?;
        Ok(text)
    }

    /// An answer, which is there whole or not at all.
    fn put(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let early = format!("{name}.new");
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&self.directory, early.as_str(), flags, Mode::from_bits_truncate(0o600))?;
        File::from(file).write_all(bytes)?;
        Ok(renameat(&self.directory, early.as_str(), &self.directory, name)?)
    }
}
