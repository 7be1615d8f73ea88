//! What no command needs to see: a list to be read, and what of it exists here.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Places beneath the home directory that hold keys, tokens, passwords or sessions. A `*` stands
/// for any name.
pub const SECRET_PLACES: &[&str] = &[
    // Keys and what signs.
    ".ssh",
    ".gnupg",
    ".pki",
    ".age",
    ".config/age",
    ".config/sops",
    ".step",
    ".minisign",
    // Clouds and clusters.
    ".aws",
    ".azure",
    ".config/gcloud",
    ".config/doctl",
    ".config/hcloud",
    ".config/linode-cli",
    ".oci",
    ".aliyun",
    ".bluemix",
    ".kube",
    ".docker/config.json",
    ".docker/run",
    ".config/containers/auth.json",
    ".fly",
    ".config/fly",
    ".vercel",
    ".netlify",
    ".config/netlify",
    ".config/heroku",
    ".wrangler",
    ".config/.wrangler",
    ".terraform.d/credentials.tfrc.json",
    ".terraformrc",
    ".pulumi/credentials.json",
    ".vault-token",
    ".config/op",
    ".databrickscfg",
    ".snowflake",
    ".config/rclone",
    ".s3cfg",
    ".boto",
    // Registries and forges.
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".config/glab-cli",
    ".config/hub",
    ".config/tea",
    ".npmrc",
    ".yarnrc.yml",
    ".pypirc",
    ".config/pypoetry/auth.toml",
    ".gem/credentials",
    ".local/share/gem/credentials",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".m2/settings.xml",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".nuget/NuGet/NuGet.Config",
    ".composer/auth.json",
    ".config/composer/auth.json",
    ".huggingface",
    ".cache/huggingface/token",
    ".kaggle",
    // Data bases.
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    ".mongorc.js",
    ".dbshell",
    ".config/redis",
    // Histories hold what was typed by mistake.
    ".bash_history",
    ".zsh_history",
    ".local/share/fish/fish_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".rediscli_history",
    ".lesshst",
    ".viminfo",
    // Browsers, mail, messengers, wallets, password stores.
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".var/app",
    "snap",
    ".config/Slack",
    ".config/discord",
    ".config/Signal",
    ".local/share/TelegramDesktop",
    ".local/share/keyrings",
    ".local/share/kwalletd",
    ".password-store",
    ".config/keepassxc",
    ".config/Bitwarden",
    ".config/Bitwarden CLI",
    ".config/1Password",
    ".bitcoin",
    ".ethereum",
    ".electrum",
    ".config/solana",
    // Agents and editors: their credentials, sessions and what they were told to run.
    ".claude",
    ".claude.json",
    ".config/claude",
    ".codex",
    ".gemini",
    ".qwen",
    ".config/goose",
    ".local/share/goose",
    ".config/opencode",
    ".local/share/opencode",
    ".config/github-copilot",
    ".copilot",
    ".cursor",
    ".config/Cursor",
    ".aider*",
    ".continue",
    ".config/eclusa",
    ".local/share/eclusa",
    ".config/Code/User/globalStorage",
    ".vscode-server/data/User/globalStorage",
    ".config/anthropic",
    ".config/openai",
    ".openai",
    ".anthropic",
    ".config/io.datasette.llm",
    // Lists of variables.
    ".env",
    ".envrc",
    ".config/environment.d",
];

/// Places of the machine that only root can read, and that root's commands need no more than others'.
pub const SYSTEM_SECRETS: &[&str] = &[
    "/etc/shadow",
    "/etc/shadow-",
    "/etc/gshadow",
    "/etc/gshadow-",
    "/etc/sudoers",
    "/etc/sudoers.d",
    "/etc/security/opasswd",
    "/etc/ssh/ssh_host_dsa_key",
    "/etc/ssh/ssh_host_ecdsa_key",
    "/etc/ssh/ssh_host_ed25519_key",
    "/etc/ssh/ssh_host_rsa_key",
    "/etc/ssl/private",
    "/etc/pki/tls/private",
    "/etc/krb5.keytab",
    "/etc/wireguard",
    "/etc/NetworkManager/system-connections",
    "/etc/letsencrypt",
    "/etc/kubernetes",
    "/etc/rancher",
    "/var/lib/kubelet",
    "/var/lib/docker",
    "/var/lib/containerd",
    "/var/lib/sss",
    "/var/spool/cron",
];

/// Names of secrets anywhere in a workspace. A `*` stands for anything.
pub const SECRET_NAMES: &[&str] = &[
    ".env",
    ".env.*",
    "*.env",
    ".envrc",
    ".netrc",
    ".npmrc",
    ".pypirc",
    ".pgpass",
    ".git-credentials",
    ".htpasswd",
    ".dockercfg",
    "id_rsa",
    "id_dsa",
    "id_ecdsa",
    "id_ed25519",
    "id_*_sk",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.jks",
    "*.keystore",
    "*.kdbx",
    "*.ppk",
    "*.tfvars",
    "*.tfstate",
    "credentials.json",
    "service-account*.json",
    "secrets.yml",
    "secrets.yaml",
    "secrets.json",
    "secrets.toml",
];

/// Names that look like secrets and are written to be read.
const HARMLESS: &[&str] =
    &[".env.example", ".env.sample", ".env.template", ".env.dist", ".env.defaults", "*.pub.pem"];

/// Where secrets are looked for by name: so deep, and so many entries at most.
const DEPTH: usize = 3;
const ENTRIES: usize = 4000;
const SKIPPED: [&str; 4] = ["node_modules", "target", ".git", ".venv"];

/// The secrets that exist here: the machine's that could be read, those beneath `home` by place, those in each workspace by name,
/// a few levels deep. The workspace itself is never among them.
#[must_use]
pub fn secrets(home: Option<&Path>, workspaces: &[PathBuf]) -> Vec<PathBuf> {
    let readable = |path: &&&str| rustix::fs::access(**path, rustix::fs::Access::READ_OK).is_ok();
    let mut found: Vec<PathBuf> =
        SYSTEM_SECRETS.iter().filter(readable).map(PathBuf::from).collect();
    if let Some(home) = home {
        for place in SECRET_PLACES {
            expand(home, place, &mut found);
        }
    }
    for workspace in workspaces {
        by_name(workspace, &mut found);
    }
    found.retain(|secret| !workspaces.iter().any(|workspace| workspace.starts_with(secret)));
    found.sort();
    found.dedup();
    found
}

/// A place that may end in a name with `*`.
fn expand(home: &Path, place: &str, found: &mut Vec<PathBuf>) {
    let at = home.join(place);
    if !place.contains('*') {
        found.extend(at.symlink_metadata().is_ok().then_some(at));
        return;
    }
    let (Some(directory), Some(pattern)) = (at.parent(), at.file_name()) else { return };
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    let pattern = pattern.to_string_lossy();
    let names =
        entries.flatten().filter(|entry| matches(&pattern, &entry.file_name().to_string_lossy()));
    found.extend(names.map(|entry| entry.path()));
}

fn by_name(workspace: &Path, found: &mut Vec<PathBuf>) {
    let mut seen = 0;
    let mut look = VecDeque::from([(workspace.to_path_buf(), 0)]);
    while let Some((directory, depth)) = look.pop_front() {
        let Ok(entries) = std::fs::read_dir(&directory) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            if seen > ENTRIES {
                return;
            }
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else { continue };
            if is_secret_name(&name) && !kind.is_dir() {
                found.push(entry.path());
            } else if kind.is_dir() && depth < DEPTH && !SKIPPED.contains(&&*name) {
                look.push_back((entry.path(), depth + 1));
            }
        }
    }
}

/// Whether a file of this name holds secrets, by [`SECRET_NAMES`].
#[must_use]
pub fn is_secret_name(name: &str) -> bool {
    let any = |patterns: &[&str]| patterns.iter().any(|pattern| matches(pattern, name));
    any(SECRET_NAMES) && !any(HARMLESS)
}

/// Whether a name fits a pattern with at most a few `*`.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        // What ends with a star at its front is the common case.
        Some((before, after)) if !after.contains('*') => {
            name.len() >= before.len() + after.len()
                && name.starts_with(before)
                && name.ends_with(after)
        }
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter_map(|at| rest.get(at..)).any(|rest| matches(after, rest))
        }),
    }
}

#[cfg(test)]
mod tests;
