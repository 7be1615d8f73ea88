//! The person's own way to sign: their key, and the program that signs with it, outside of every sandbox.
//!
//! Program and format come from the person's own configuration and never from a repository's, which could name any
//! program. Of a repository only the name of a key for OpenPGP is heard, because a person is told which it is.

use std::ffi::{OsStr, OsString};
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use eclusa_git::read_config_list;
use rustix::fs::{Mode, OFlags};

use super::{Signing, ask, config, repository};

/// How long a signature may take: a person may have to type the words that open the key.
const MAX_WAIT: Duration = Duration::from_secs(60);
/// How long a signature is.
const MAX_SIGNATURE: u64 = 64 << 10;
/// Where programs are looked for: never in a directory of a project, which a caller's `PATH` may name.
const PATH: &str = "/usr/bin:/bin:/usr/local/bin:/opt/homebrew/bin:/opt/local/bin";

/// What a program that signs is told of the environment: how it finds its agent and asks for the words that open a
/// key. Nothing else, which could name libraries and programs.
const VARIABLES: [&str; 15] = [
    "DBUS_SESSION_BUS_ADDRESS",
    "DISPLAY",
    "GNUPGHOME",
    "GPG_TTY",
    "LANG",
    "LC_ALL",
    "LOGNAME",
    "PINENTRY_USER_DATA",
    "SSH_ASKPASS",
    "SSH_AUTH_SOCK",
    "TERM",
    "USER",
    "WAYLAND_DISPLAY",
    "XAUTHORITY",
    "XDG_RUNTIME_DIR",
];

/// Signs as git does outside of sandboxes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GitSigner {
    format: Format,
    program: OsString,
    key: String,
    home: PathBuf,
    /// The variables of the environment that count.
    env: Vec<(&'static str, OsString)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    OpenPgp,
    X509,
    Ssh,
}

impl GitSigner {
    /// What the person signs with in the repository that `cwd` lies in. The error says why that cannot be done
    /// for them.
    pub fn find(home: &Path, cwd: &Path) -> Result<GitSigner, String> {
        let mut command = ask::git().ok_or("there is no git")?;
        command.env_remove("GIT_CONFIG_GLOBAL").env("HOME", home);
        command.current_dir(cwd).env_remove("GIT_CEILING_DIRECTORIES");
        command.args(["config", "--global", "--includes", "--list", "-z"]);
        let listed = read_config_list(&ask::output(command).unwrap_or_default());
        let said = |name: &str| {
            let fits = |it: &OsStr| it.to_str().is_some_and(|it| it.eq_ignore_ascii_case(name));
            let found = listed.iter().rfind(|it| fits(&it.0.to_os_string()))?;
            String::from_utf8(found.1.clone()).ok().filter(|it| !it.is_empty())
        };
        let files = repository::files_above(&[cwd.to_owned()]);
        let own: Vec<_> = files.iter().filter_map(|it| config::read(it)).flatten().collect();
        let of_repository = |section: &str, key: &str| {
            let found = own.iter().rfind(|(it, _)| it.section == section && it.key == key)?;
            String::from_utf8(found.1.clone()).ok()
        };
        let format = said("gpg.format").unwrap_or_else(|| "openpgp".to_owned());
        if of_repository("gpg", "format").is_some_and(|it| it != format) {
            return Err("the repository sets `gpg.format`".to_owned());
        }
        let (format, program, name) = match format.as_str() {
            "openpgp" => {
                (Format::OpenPgp, said("gpg.openpgp.program").or(said("gpg.program")), "gpg")
            }
            "x509" => (Format::X509, said("gpg.x509.program"), "gpgsm"),
            "ssh" => (Format::Ssh, said("gpg.ssh.program"), "ssh-keygen"),
            other => return Err(format!("`gpg.format` is `{other}`")),
        };
        let named = of_repository("user", "signingkey");
        let key = match (named, format) {
            (Some(key), Format::OpenPgp) if is_plain(&key) => Some(key),
            (Some(_), _) => return Err("the repository names a key of its own".to_owned()),
            (None, _) => said("user.signingkey"),
        };
        let key = match (key, format) {
            (Some(key), _) => key,
            (None, Format::Ssh) => return Err("`user.signingKey` names no key".to_owned()),
            (None, Format::OpenPgp | Format::X509) => {
                said("user.email").ok_or("`user.signingKey` names no key")?
            }
        };
        let program = program.unwrap_or_else(|| name.to_owned());
        let program = expanded(&program, home).into();
        Ok(GitSigner { format, program, key, home: home.to_owned(), env: variables(cwd) })
    }

    /// The key, as a person calls it.
    #[must_use]
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Signs a text with the person's key. What is needed for that besides is kept in this directory,
    /// which nobody else sees.
    pub fn sign(&self, text: &[u8], directory: &Path) -> Result<Vec<u8>, String> {
        let mut words: Vec<OsString> = Vec::new();
        match self.format {
            Format::OpenPgp | Format::X509 => {
                words.extend(["--status-fd=2", "-bsau", &self.key].map(OsString::from));
            }
            Format::Ssh => {
                words.extend(["-Y", "sign", "-n", "git", "-f"].map(OsString::from));
                let literal = self.key.strip_prefix("key::");
                match literal.or_else(|| self.key.starts_with("ssh-").then_some(&*self.key)) {
                    Some(key) => {
                        let path = directory.join("key.pub");
                        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
                        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                        let made = rustix::fs::open(&path, flags, Mode::RUSR | Mode::WUSR)
                            .map_err(std::io::Error::from)
                            .and_then(|it| std::fs::File::from(it).write_all(key.as_bytes()));
                        made.map_err(|err| format!("the key cannot be kept: {err}"))?;
                        words.extend([path.into(), "-U".into()]);
                    }
                    None => words.push(expanded(&self.key, &self.home).into()),
                }
            }
        }
        let (signature, said) = self.run(&words, text)?;
        let made = match self.format {
            Format::OpenPgp | Format::X509 => {
                said.lines().any(|it| it.starts_with("[GNUPG:] SIG_CREATED "))
            }
            Format::Ssh => signature.starts_with(b"-----BEGIN SSH SIGNATURE-----"),
        };
        let why =
            || said.lines().rfind(|it| !it.starts_with("[GNUPG:]")).unwrap_or("it says nothing");
        if made { Ok(signature) } else { Err(why().trim().to_owned()) }
    }

    #[expect(clippy::disallowed_methods, reason = "the person's own program, outside of sandboxes")]
    fn run(&self, words: &[OsString], text: &[u8]) -> Result<(Vec<u8>, String), String> {
        let mut command = Command::new(&self.program);
        command.env_clear().envs(self.env.iter().map(|(name, value)| (name, value)));
        command.args(words).current_dir("/").env("PATH", PATH).env("HOME", &self.home);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let shown = self.program.display();
        let mut child = command.spawn().map_err(|err| format!("`{shown}`: {err}"))?;
        let (mut input, text) = (child.stdin.take(), text.to_vec());
        let writer = std::thread::spawn(move || {
            // Whoever does not read it says why.
            let _ = input.as_mut().map(|it| it.write_all(&text));
        });
        let out = child.stdout.take().map(|it| std::thread::spawn(move || read(it)));
        let said = child.stderr.take().map(|it| std::thread::spawn(move || read(it)));
        let ended = wait(&mut child);
        let joined = |it: Option<std::thread::JoinHandle<Vec<u8>>>| {
            it.and_then(|it| it.join().ok()).unwrap_or_default()
        };
        if !ended {
            return Err(format!("`{shown}` took longer than {} s", MAX_WAIT.as_secs()));
        }
        let _ = writer.join();
        let said = String::from_utf8_lossy(&joined(said)).into_owned();
        Ok((joined(out), said))
    }
}

fn read(pipe: impl std::io::Read) -> Vec<u8> {
    let mut bytes = Vec::new();
    let _ = pipe.take(MAX_SIGNATURE).read_to_end(&mut bytes);
    bytes
}

/// Waits for its end, and ends what takes too long.
fn wait(child: &mut Child) -> bool {
    let until = Instant::now() + MAX_WAIT;
    loop {
        match child.try_wait() {
            Ok(Some(_)) => return true,
            Ok(None) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            Ok(None) | Err(_) => {
                let _ = child.kill();
                let _ = child.wait();
                return false;
            }
        }
    }
}

/// A name of a key and nothing that a program could take for an option.
fn is_plain(key: &str) -> bool {
    let plain = |it: char| it.is_ascii_alphanumeric() || " @.+_-<>!".contains(it);
    !key.is_empty() && key.len() <= 200 && !key.starts_with(['-', '!']) && key.chars().all(plain)
}

/// The variables that count, but for those that lead into the project: it may have set them.
fn variables(cwd: &Path) -> Vec<(&'static str, OsString)> {
    let top = cwd.ancestors().filter(|it| it.join(".git").symlink_metadata().is_ok()).last();
    let top = top.unwrap_or(cwd);
    let whole = |it: &OsStr| Path::new(it).canonicalize().unwrap_or_else(|_| it.into());
    let leads_there = |it: &OsStr| !it.is_empty() && whole(it).starts_with(whole(top.as_os_str()));
    let read = |name| Some((name, std::env::var_os(name)?));
    VARIABLES.into_iter().filter_map(read).filter(|(_, value)| !leads_there(value)).collect()
}

/// `~/x` in the home of the person.
fn expanded(path: &str, home: &Path) -> PathBuf {
    path.strip_prefix("~/").map_or_else(|| path.into(), |it| home.join(it))
}

/// Has every git sign what is to be signed with this program.
pub fn set_git_signer(env: &mut Vec<(OsString, OsString)>, signing: Signing, program: &OsStr) {
    let Some((_, count)) = env.iter_mut().find(|it| it.0 == "GIT_CONFIG_COUNT") else { return };
    let Some(first) = count.to_str().and_then(|it| it.parse::<usize>().ok()) else { return };
    let truth = |it: bool| if it { "true" } else { "false" };
    // Of several the last counts.
    let settings: [(&str, &OsStr); 5] = [
        ("gpg.format", "openpgp".as_ref()),
        ("gpg.program", program),
        ("gpg.openpgp.program", program),
        ("commit.gpgSign", truth(signing.commits).as_ref()),
        ("tag.gpgSign", truth(signing.tags).as_ref()),
    ];
    *count = (first + settings.len()).to_string().into();
    for (n, (name, value)) in settings.into_iter().enumerate() {
        env.push((format!("GIT_CONFIG_KEY_{}", first + n).into(), name.into()));
        env.push((format!("GIT_CONFIG_VALUE_{}", first + n).into(), value.into()));
    }
}
