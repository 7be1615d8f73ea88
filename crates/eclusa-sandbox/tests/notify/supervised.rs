//! Starts a program whose calls are held, and hands the listener to the test.
#![expect(unsafe_code, reason = "a filter is installed by a system call")]

use std::{
    io::IoSlice,
    mem::MaybeUninit,
    os::{
        fd::{AsFd, FromRawFd, OwnedFd},
        unix::{net::UnixListener, net::UnixStream, process::CommandExt},
    },
    path::Path,
    thread::JoinHandle,
};

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};

use crate::overlay::program;

/// The words of a shell that start a script with a filter and, as in a sandbox, without capabilities;
/// and a thread that waits for the listener.
pub(crate) fn start(dir: &Path, script: &str) -> (String, JoinHandle<OwnedFd>) {
    let socket = dir.join("socket");
    let _ = program("rm").arg("-f").arg(&socket).status();
    let waiting = UnixListener::bind(&socket).unwrap();
    let quoted = |text: &str| format!("'{}'", text.replace('\'', "'\\''"));
    let binary = std::env::current_exe().unwrap();
    // Who has no capabilities can lose none.
    let bare = "if setpriv --bounding-set=-all true 2>/dev/null; \
                then bare='setpriv --bounding-set=-all --inh-caps=-all'; fi";
    let words = format!(
        "{bare}; export HELD_SOCKET={} HELD_SCRIPT={}; \
         exec $bare {} --exact supervised::supervised_program --nocapture >/dev/null",
        quoted(socket.to_str().unwrap()),
        quoted(script),
        quoted(binary.to_str().unwrap())
    );
    let receive = move || {
        let (stream, _) = waiting.accept().unwrap();
        received(&stream)
    };
    (words, std::thread::spawn(receive))
}

fn received(stream: &UnixStream) -> OwnedFd {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let into = &mut [std::io::IoSliceMut::new(&mut byte)];
    rustix::net::recvmsg(stream, into, &mut control, RecvFlags::CMSG_CLOEXEC).unwrap();
    let fds = control.drain().filter_map(|it| match it {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    fds.flatten().next().unwrap()
}

/// Not a test: what [`start`] executes. Installs the filter and becomes the script.
#[test]
fn supervised_program() {
    let (Ok(socket), Ok(script)) = (std::env::var("HELD_SOCKET"), std::env::var("HELD_SCRIPT"))
    else {
        return;
    };
    let filter = eclusa_sandbox::notify::renames();
    let stream = UnixStream::connect(socket).unwrap();
    rustix::thread::set_no_new_privs(true).unwrap();
    let listener = install(&filter);
    let fds = [listener.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    control.push(SendAncillaryMessage::ScmRights(&fds));
    rustix::net::sendmsg(&stream, &[IoSlice::new(b"x")], &mut control, SendFlags::empty()).unwrap();
    drop(listener);
    let err = program("sh").args(["-e", "-c", &script]).exec();
    panic!("{err}");
}

fn install(filter: &[libc::sock_filter]) -> OwnedFd {
    let len = u16::try_from(filter.len()).unwrap();
    let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut() };
    let flags = libc::SECCOMP_FILTER_FLAG_NEW_LISTENER;
    let mode = libc::SECCOMP_SET_MODE_FILTER;
    // SAFETY: `program` points to `len` instructions, which the kernel copies.
    let fd = unsafe { libc::syscall(libc::SYS_seccomp, mode, flags, &raw const program) };
    assert!(fd >= 0, "{}", std::io::Error::last_os_error());
    // SAFETY: the kernel has just made the descriptor, and nobody else has it.
    unsafe { OwnedFd::from_raw_fd(i32::try_from(fd).unwrap()) }
}
