//! Which places go away.

use std::path::Path;

use super::refuse_runner_cache;

#[test]
fn a_program_in_a_cache_of_a_runner_is_refused_and_told_how_to_stay() {
    for (path, lasting) in [
        (
            "/home/u/.npm/_npx/1f2e/node_modules/@eclusa/linux-x64/bin/eclusa",
            "npm install --global",
        ),
        (
            "/home/u/.cache/pnpm/dlx-123/5/node_modules/@eclusa/linux-x64/bin/eclusa",
            "npm install --global",
        ),
        (
            "/home/u/.cache/pnpm/dlx/ab/node_modules/@eclusa/linux-x64/bin/eclusa",
            "npm install --global",
        ),
        (
            "/tmp/bunx-1000-eclusa@latest/node_modules/@eclusa/linux-x64/bin/eclusa",
            "npm install --global",
        ),
        ("/home/u/.cache/uv/archive-v0/Xy_z/bin/eclusa", "uv tool install"),
        ("/srv/caches/environments-v2/eclusa-1/bin/eclusa", "uv tool install"),
        ("/home/u/.local/pipx/.cache/0f/bin/eclusa", "pipx install"),
    ] {
        let refused = format!("{:?}", refuse_runner_cache(Path::new(path)).unwrap_err());
        assert!(refused.contains(lasting) && refused.contains(path), "{refused}");
    }
}

#[test]
fn a_program_that_stays_is_taken() {
    for path in [
        "/usr/bin/eclusa",
        "/home/u/.local/bin/eclusa",
        "/home/u/.local/share/uv/tools/eclusa/bin/eclusa",
        "/usr/lib/node_modules/eclusa/node_modules/@eclusa/linux-x64/bin/eclusa",
        "/home/u/.local/pipx/venvs/eclusa/bin/eclusa",
        "/tmp/build/target/debug/eclusa",
    ] {
        refuse_runner_cache(Path::new(path)).unwrap();
    }
}
