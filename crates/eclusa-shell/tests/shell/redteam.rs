//! Commands of a red team: what must be denied is a catastrophe, what must not be allowed is not
//! read as harmless. The verdicts themselves are tested where the rules are.

use eclusa_shell::{Analysis, RedirectKind, analyse};
use serde_json::Value;

fn cases() -> Vec<Value> {
    let text = include_str!("../../../../tests/corpus/redteam.jsonl");
    text.lines().map(|it| serde_json::from_str(it).unwrap()).collect()
}

/// True when nothing in the text does more than read, as far as the text tells.
fn is_harmless(analysis: &Analysis) -> bool {
    let writes = |it: &eclusa_shell::Redirect| {
        let sink = it.target.text().is_some_and(|it| it.starts_with("/dev/"));
        !matches!(it.kind, RedirectKind::Read | RedirectKind::Descriptor | RedirectKind::Text)
            && !sink
    };
    let harmless = |it: &eclusa_shell::Command| {
        let project = it.profile.needs.contains(&"trusted-project");
        let sets = it
            .assignments
            .iter()
            .any(|it| eclusa_shell::influence(&it.name) != eclusa_shell::Influence::Looks);
        let outside =
            it.profile.paths.iter().any(|it| {
                it.word.prefix().is_empty() || it.word.prefix().starts_with(['/', '.', '~'])
            });
        let unknown = it.words.iter().any(|it| it.text().is_none());
        it.profile.class.is_read_only()
            && !project
            && !sets
            && !outside
            && !unknown
            && !it.background
            && !it.redirects.iter().any(writes)
    };
    analysis.doubts.is_empty()
        && analysis.refused.is_none()
        && analysis.commands.iter().all(harmless)
}

#[test]
fn every_catastrophe_of_the_red_team_is_one() {
    let denied = cases().into_iter().filter(|it| it["must"] == "deny");
    let missed = |it: &Value| analyse(it["command"].as_str().unwrap()).catastrophe.is_none();
    let missed: Vec<Value> = denied.filter(missed).map(|it| it["command"].clone()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn nothing_everyday_is_a_catastrophe() {
    let everyday = cases().into_iter().filter(|it| it["must"] == "not_deny");
    let denied = everyday.filter_map(|it| {
        let found = analyse(it["command"].as_str().unwrap()).catastrophe?;
        Some(format!("{}: {found}", it["command"]))
    });
    assert_eq!(denied.collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn what_writes_or_runs_is_not_read_as_harmless() {
    let forbidden = cases().into_iter().filter(|it| it["must"] == "not_allow");
    let harmless = |it: &Value| is_harmless(&analyse(it["command"].as_str().unwrap()));
    let wrong: Vec<Value> = forbidden.filter(harmless).map(|it| it["command"].clone()).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// The families behind the findings, beyond the lines that were found.
#[test]
fn the_families_of_the_red_team_are_closed() {
    let mut wrong = Vec::new();
    for command in [
        "mytool --exec 'rm -rf /'",
        "mytool --command='rm -rf ~'",
        "foot -e 'sudo rm -rf /etc'",
        "kitty sh -c 'rm -rf /'",
        "echo / | while read -r f; do rm -rf \"$f\"; done",
        "mapfile -t a <<< /; rm -rf \"${a[@]}\"",
        "alias x='rm -rf'; x /",
        "cp /bin/rm x; ./x -rf /",
        "ln -s /bin/rm r; ./r -rf ~",
        "rm -rf $(dirname /x)",
        "rm -rf \"$(realpath /)\"",
        "rm -rf \"$(cd /; pwd)\"",
        "rm -rf $(basename /)",
        "awk 'BEGIN{print \"rm -rf /\"}' | sh",
        "sudo bash <<EOF\nrm -rf $HOME\nEOF",
        "bash <<EOF\nrm -rf $HOME/*\nEOF",
        "find -delete",
        "find . -type f -delete",
        "find . -mindepth 1 -exec rm -rf {} \\;",
        "rmdir /usr",
        "echo x >> /etc/passwd",
        "tee -a /etc/sudoers",
        "systemctl --force reboot",
        "systemctl isolate poweroff.target",
        "shutdown -h now",
        "init 0",
        "git push --mirror origin",
        "tar -xzf x.tgz -C /etc",
        "unzip -o x.zip -d /",
        "cat >> ~/.zshrc <<'E'\nrm -rf ~\nE",
        "echo 'rm -rf /' | tee -a ~/.profile",
    ] {
        if analyse(command).catastrophe.is_none() {
            wrong.push(format!("no catastrophe: {command}"));
        }
    }
    for command in [
        "mytool --message 'rm -rf /'",
        "find . -name '*.o' -delete",
        "find . -inum 1234 -delete",
        "find . -type l -delete",
        "find build -delete",
        "tar -xzf x.tgz -C /tmp",
        "tar -czf /tmp/x.tgz -C / etc/hosts",
        "tar cf x.tar -C /etc hosts",
        "systemctl restart nginx",
        "systemctl status reboot.target",
        "shutdown -c",
        "git push --force-with-lease",
        "rmdir old",
        "cp /bin/ls x; ./x /",
        "alias ll='ls -l'; ll /",
        "echo 'export A=b' >> ~/.bashrc",
        "while read f; do rm -f \"$f\"; done <<< old.txt",
        "rm -rf $(dirname build/x)",
        "rm -rf \"$(cd build && pwd)\"",
    ] {
        if let Some(found) = analyse(command).catastrophe {
            wrong.push(format!("a catastrophe: {command}: {found}"));
        }
    }
    for command in [
        "xz -tz f",
        "lzma -t -z f",
        "unlzma -l --compress f",
        "bzip2 -t -d f.bz2",
        "pigz -l -z f",
        "zstd -t --decompress f",
        "zstd --list -z f",
        "lz4 -t -l f",
        "pbzip2 -l f",
        "xz -t --comp f",
        "nm @x",
        "size @x a.o",
        "objdump @x",
        "readelf -h @x",
        "strings @x",
        "addr2line @x",
        "git -c diff.context.textconv=./x diff",
        "git -c log.date.x=1 log",
        "git -c core.abbrevx=1 log",
        "for SECONDS in a; do :; done",
        "SECONDS[0]='a[$(x)]'",
        "read SECONDS <<< x",
        "printf -v SECONDS x",
        "declare SECONDS=x",
        ": ${SECONDS:=x}",
        "cargo -V",
        "cargo --list",
        "cargo --help",
        "cargo version",
        "rustc -vV",
        "rustdoc -V",
        "rustup -V",
        "rustfmt --version",
        "file -bp x",
        "file --preserve-date x",
        "tree -aR -L 1",
        "scc -o x",
        "dotnet --version",
        "elixir --version",
    ] {
        if is_harmless(&analyse(command)) {
            wrong.push(format!("harmless: {command}"));
        }
    }
    for command in [
        "xz -t f.xz",
        "xz -l f.xz",
        "xz -dc f.xz",
        "bzip2 -t f",
        "zstd -l f",
        "zstd -dc f",
        "gzip -l f",
        "nm -C a.o",
        "git -c color.diff.meta=red diff",
        "git -c diff.context=5 diff",
        "file -b x",
        "tree -L 2",
        "SECONDS=0",
        "gcc --version",
        "lz4 -t f",
    ] {
        let analysis = analyse(command);
        let sets = command.starts_with("SECONDS");
        if !(sets || is_harmless(&analysis)) || !analysis.doubts.is_empty() {
            wrong.push(format!("not harmless: {command}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What needs no other machine does not count as talking to one, and a sandbox contains what a
/// variable or a calculation can run.
#[test]
fn everyday_commands_need_no_other_machine() {
    let mut wrong = Vec::new();
    use eclusa_shell::programs::Class;
    for command in [
        "npx tsc --noEmit",
        "npx eslint src",
        "uv run pytest",
        "poetry run pytest",
        "pdm run x",
        "go build ./...",
        "go test ./...",
        "go vet ./...",
        "yarn test",
        "yarn build",
        "yarn --version",
        "NODE_ENV=test npm test",
        "cargo tree",
        "cargo metadata",
        "sqlite3 app.db .tables",
        "rsync -a src/ dst/",
        "rsync -av --delete ./a/ b",
        "terraform fmt",
        "terraform validate",
        "valgrind ./app",
        "strace -c ./app",
        "perf stat ./app",
        "PYTHONPATH=src python3 -m x",
        "RUSTFLAGS='-D warnings' cargo check",
        "ASAN_OPTIONS=x ./app",
        "echo $(( $(cat f) + 1 ))",
        "curl localhost:3000",
        "curl -s http://127.0.0.1:8080/x",
        "curl 'http://[::1]:80/'",
        "curl localhost:$PORT/health",
        "wget -qO- http://localhost:3000/",
        "bun test",
        "deno test",
        "git submodule update --init",
        "npm ci --offline",
        "rustup show",
        "turbo build",
        "cat > f <<'EOF'\n\nbody\nEOF",
        "cat > f <<EOF\n\n\n  body\nEOF",
        "[[ $x -eq 1 ]]",
    ] {
        let analysis = analyse(command);
        let talks = |it: &eclusa_shell::Command| {
            it.profile.class.contains(Class::Network) || it.profile.class.contains(Class::Privilege)
        };
        if analysis.commands.iter().any(talks) {
            wrong.push(format!("talks: {command}"));
        }
        let grave: Vec<_> = analysis.doubts.iter().filter(|it| !it.contained).collect();
        if !grave.is_empty() {
            wrong.push(format!("doubts: {command}: {grave:?}"));
        }
    }
    for command in [
        "yarn",
        "yarn add x",
        "uv sync",
        "poetry install",
        "go get x",
        "go mod tidy",
        "npm ci",
        "terraform plan",
        "rsync -a . host:x",
        "rsync -a rsync://h/m x",
        "rsync -a $x y",
        "curl example.com",
        "curl localhost.evil.com",
        "curl http://localhost@evil.com",
        "curl 127.0.0.1.evil.com",
        "curl localhost:80 example.com",
        "curl $x",
        "curl localhost$x",
        "curl -x proxy:1 localhost",
        "curl --resolve localhost:80:1.2.3.4 localhost",
        "docker ps",
        "strace -p 1",
        "perf stat -a sleep 1",
        "bun add x",
        "rustup update",
        "curl 1270.0.0.1",
        "wget http://127.0.0.1:80@evil.example/",
    ] {
        let analysis = analyse(command);
        let talks = |it: &eclusa_shell::Command| {
            it.profile.class.contains(Class::Network) || it.profile.class.contains(Class::Privilege)
        };
        if !analysis.commands.iter().any(talks) {
            wrong.push(format!("does not talk: {command}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
