//! What a test needs of the machine. Where the machine does not have it, the test says so and is not checked.
//!
//! Whether it is there is found by trying it, without the code that the tests are about: a sandbox that
//! says too little of a machine makes its tests fail, and never makes them vanish.

use std::{
    fs::{File, read_to_string},
    io::{self, ErrorKind, Write as _},
    sync::OnceLock,
};

/// The file that tests write their names to when they are not checked: `./test` counts its lines.
const NOTES: &str = "ECLUSA_TESTS_NOT_CHECKED";

/// Where this is set, the machine is expected to have everything, and a test that cannot be checked fails.
const EXPECTED: &str = "ECLUSA_TESTS_EXPECT_NAMESPACES";

/// Ends a test that the machine cannot carry out, at its beginning: `needs!(Namespaces);`.
#[macro_export]
macro_rules! needs {
    ($need:ident) => {
        if !$crate::is_here($crate::Need::$need) {
            return ::core::default::Default::default();
        }
    };
}

/// What not every machine lets a program have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Namespaces with mounts of their own. Containers and some hardened systems refuse them.
    Namespaces,
}

/// Whether it is here. If not, the calling test is noted as not checked.
///
/// # Panics
///
/// Where it is expected to be here and is not.
#[must_use]
pub fn is_here(need: Need) -> bool {
    let Need::Namespaces = need;
    let Some(why) = lacking() else { return true };
    let test = std::thread::current().name().unwrap_or("a test").to_owned();
    #[expect(clippy::panic, reason = "a test that panics has failed, which is what was asked for")]
    if std::env::var_os(EXPECTED).is_some_and(|it| it != "0") {
        panic!("`{test}` needs namespaces, which are expected here and cannot be made: {why}");
    }
    if let Err(error) = note(&test) {
        eprintln!("`{NOTES}` cannot be written: {error}");
    }
    eprintln!("not checked: `{test}` needs namespaces, which this machine does not allow: {why}");
    false
}

/// One line, written at once, because many processes write to the file.
fn note(test: &str) -> io::Result<()> {
    let Some(path) = std::env::var_os(NOTES) else { return Ok(()) };
    let program = std::env::current_exe()?;
    let program = program.file_name().unwrap_or_default().to_string_lossy();
    let program = program.rsplit_once('-').map_or(&*program, |(name, _)| name);
    let mut file = File::options().append(true).create(true).open(path)?;
    file.write_all(format!("{program} {test}\n").as_bytes())
}

/// What the kernel says when somebody makes namespaces, where it says no.
fn lacking() -> Option<&'static str> {
    static FOUND: OnceLock<Option<String>> = OnceLock::new();
    // A test may have taken something from its own thread: that says nothing about the machine.
    if filters("/proc/thread-self/status") != filters("/proc/self/status") {
        return None;
    }
    FOUND.get_or_init(refused).as_deref()
}

/// What the kernel answers to every attempt, and not only to this one.
fn refused() -> Option<String> {
    let error = eclusa_sandbox::test_support::make_namespaces().err()?;
    let never = match error.kind() {
        ErrorKind::PermissionDenied | ErrorKind::StorageFull | ErrorKind::Unsupported => true,
        // What a kernel says that was built without some of them.
        _ => error.raw_os_error() == Some(22),
    };
    never.then(|| error.to_string())
}

/// The line of a thread's status that says how many filters of system calls it has.
fn filters(status: &str) -> Option<String> {
    let status = read_to_string(status).ok()?;
    status.lines().find(|it| it.starts_with("Seccomp_filters:")).map(str::to_owned)
}
