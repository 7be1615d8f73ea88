//! The environment of a command.

use std::ffi::{CString, OsStr, OsString};
use std::net::SocketAddrV4;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use super::c_string;
use crate::plan::Plan;
use crate::proxy::ProxySecret;
use crate::step::SandboxError;

/// The environment of the plan, where the proxy listens if there is one, and where temporary files go if
/// that is not `/tmp`.
pub(super) fn env(
    plan: &Plan,
    proxy: Option<(SocketAddrV4, Option<&ProxySecret>)>,
    tmp: Option<&Path>,
) -> Result<Vec<CString>, SandboxError> {
    let mut env = Vec::with_capacity(plan.env.len() + 9);
    let tmp = tmp.map(|it| (OsString::from("TMPDIR"), it.as_os_str().to_owned()));
    let kept = plan.env.iter().filter(|(name, _)| tmp.is_none() || name != "TMPDIR");
    for (name, value) in kept.chain(&tmp) {
        let (name, value) = (name.as_bytes(), value.as_bytes());
        if name.is_empty() || name.contains(&b'=') {
            let name = String::from_utf8_lossy(name).into_owned();
            return Err(SandboxError::Plan(format!("`{name}` is not a name for a variable")));
        }
        env.push(c_string(OsStr::from_bytes(&[name, b"=", value].concat()))?);
    }
    if let Some((proxy, secret)) = proxy {
        let word = secret.map(ProxySecret::userinfo).unwrap_or_default();
        for name in
            ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
        {
            env.push(c_string(OsStr::new(&format!("{name}=http://{word}{proxy}")))?);
        }
        for name in ["no_proxy", "NO_PROXY"] {
            env.push(c_string(OsStr::new(&format!(
                "{name}=localhost,.localhost,127.0.0.1,0.0.0.0,::1,{}",
                proxy.ip()
            )))?);
        }
    }
    Ok(env)
}
