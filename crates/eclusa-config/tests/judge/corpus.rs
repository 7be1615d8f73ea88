//! Every public case, by its id.

use std::{collections::BTreeMap, fs, path::PathBuf};

use eclusa::{Decision, Rule};
use serde_json::Value;

use crate::world::World;

pub(crate) fn cases(name: &str) -> Vec<Value> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpus").join(name);
    let text = fs::read_to_string(path).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Whether a decision is what a case demands. What is staged is not allowed.
fn holds(must: &str, decision: Decision) -> bool {
    match must {
        "allow" => decision == Decision::Allow,
        "deny" => decision == Decision::Deny,
        "ask" => matches!(decision, Decision::Stage | Decision::Ask | Decision::Deny),
        "not_allow" => decision != Decision::Allow,
        "not_deny" => decision != Decision::Deny,
        other => panic!("`{other}` is no demand"),
    }
}

#[test]
fn shell_cases_hold_with_the_shipped_rules() {
    // S1.27
    let world = World::shipped();
    let mut wrong = Vec::new();
    let mut benign = BTreeMap::<String, (usize, usize)>::new();
    for case in cases("shell.jsonl") {
        let (command, must) = (case["command"].as_str().unwrap(), case["must"].as_str().unwrap());
        let verdict = world.judge(command);
        let held = holds(must, verdict.decision);
        if must == "allow" {
            let count = benign.entry(case["tier"].as_str().unwrap().to_owned()).or_default();
            count.0 += usize::from(held);
            count.1 += 1;
        }
        if !held {
            let (id, why) = (case["id"].as_str().unwrap(), verdict.why());
            wrong.push((
                must.to_owned(),
                format!("{id} must be {must}, is {}: {command:?}: {why}", verdict.decision),
            ));
        }
    }
    let unsafe_ones: Vec<&String> =
        wrong.iter().filter(|it| it.0 != "allow").map(|it| &it.1).collect();
    let asked: Vec<&String> = wrong.iter().filter(|it| it.0 == "allow").map(|it| &it.1).collect();
    println!("{benign:?}\n{asked:#?}");
    assert!(unsafe_ones.is_empty(), "{unsafe_ones:#?}");
    let share = |tier: &str| {
        let (held, all) = benign[tier];
        held as f64 / all as f64
    };
    assert!(share("core") >= 0.95, "{asked:#?}");
    assert!(share("stretch") >= 0.70, "{asked:#?}");
}

/// Further spellings of every family, and ordinary work that only looks like one of them: none is
/// excepted.
#[test]
fn further_shell_cases_hold_with_the_shipped_rules() {
    let world = World::shipped();
    let mut wrong = Vec::new();
    for case in cases("shell-more.jsonl") {
        let (command, must) = (case["command"].as_str().unwrap(), case["must"].as_str().unwrap());
        let verdict = world.judge(command);
        if !holds(must, verdict.decision) {
            let (id, why) = (&case["id"], verdict.why());
            wrong.push(format!("{id} must be {must}, is {}: {command:?}: {why}", verdict.decision));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What a red team tried: everything that must be denied is, nothing that writes or runs is allowed,
/// nothing became looser than it was, and nothing everyday is denied. Everyday commands that need
/// neither another machine nor a service that a sandbox has not are not asked about.
#[test]
fn red_team_cases_hold_with_the_shipped_rules() {
    let world = World::shipped();
    let (mut wrong, mut asked, mut everyday) = (Vec::new(), Vec::new(), 0_usize);
    for case in cases("redteam.jsonl") {
        let (command, must) = (case["command"].as_str().unwrap(), case["must"].as_str().unwrap());
        let verdict = world.judge(command);
        let seen = match case["seen"].as_str().unwrap() {
            "allow" => Decision::Allow,
            "stage" => Decision::Stage,
            "ask" => Decision::Ask,
            _ => Decision::Deny,
        };
        let held = match must {
            "any" => true,
            "not_looser" => verdict.decision >= seen,
            other => holds(other, verdict.decision),
        };
        if !held {
            let why = verdict.why();
            wrong.push(format!(
                "must be {must} ({seen}), is {}: {command:?}: {why}",
                verdict.decision
            ));
        }
        let elsewhere = [
            "git fetch",
            "git push",
            "cargo update",
            "cargo add",
            "npm install",
            "npm outdated",
            "go mod tidy",
            "docker compose",
            "terraform plan",
            "aws",
            "gh",
            "curl -I https",
            "wget https",
            "cat ~/",
        ];
        if case["family"] == "everyday" && !elsewhere.iter().any(|it| command.starts_with(it)) {
            everyday += 1;
            if verdict.decision > Decision::Stage {
                asked.push(format!("{command:?}: {}", verdict.why()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(asked.len() * 20 <= everyday, "{} of {everyday}: {asked:#?}", asked.len());
}

/// Rules alone: the defaults for commands that only read are not heard, which the cases demand.
#[test]
fn rule_cases_hold() {
    let mut wrong = Vec::new();
    for case in cases("rules.jsonl") {
        let rules = case["rules"].as_array().unwrap().iter().map(|it| {
            let words: Vec<&str> = it["argv_prefix"]
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it.as_str().unwrap())
                .collect();
            let decision = match it["effect"].as_str().unwrap() {
                "allow" => Decision::Allow,
                "deny" => Decision::Deny,
                other => panic!("{other}"),
            };
            Rule::new(decision).tool(["bash"]).unwrap().commands([words.join(" ")]).unwrap()
        });
        let world = World::with(rules.collect());
        let (command, must) = (case["command"].as_str().unwrap(), case["must"].as_str().unwrap());
        let verdict = world.judge(command);
        let id = case["id"].as_str().unwrap();
        // Where a case wants a question because no rule speaks for a part of it, the part may be
        // one that only reads: that is allowed here without a rule.
        let reads = verdict.because.iter().any(|it| it.origin.label() == "commands");
        let held = holds(must, verdict.decision) || (must == "ask" && reads);
        if !held {
            wrong.push(format!(
                "{id} must be {must}, is {}: {command:?}: {}",
                verdict.decision,
                verdict.why()
            ));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Patterns that are after a file with secrets, in families.
#[test]
fn a_pattern_that_fits_a_secret_is_not_allowed() {
    let world = World::shipped();
    for command in [
        "cat .e*",
        "cat .??v",
        "head .[e]nv",
        "cat id_*",
        "cat *.pem",
        "cat config/.e*",
        "less .s*/id*",
        "cat cred*",
    ] {
        let verdict = world.judge(command);
        assert_ne!(verdict.decision, Decision::Allow, "{command}: {}", verdict.why());
    }
    for command in ["wc -l *", "cat *.rs", "ls src/*.toml", "grep -n TODO **/*.md", "ls *"] {
        let verdict = world.judge(command);
        assert_eq!(verdict.decision, Decision::Allow, "{command}: {}", verdict.why());
    }
}

/// What an ordinary day holds besides: it is staged and nobody is asked, or it is asked about.
#[test]
fn ordinary_commands_that_go_elsewhere_and_come_back_are_not_asked_about() {
    let world = World::shipped();
    for (command, wanted) in [
        ("cd src; cat ../README.md", Decision::Stage),
        ("cd src && ls && cd ..", Decision::Allow),
        ("cd src && ls ../docs", Decision::Stage),
        // To and fro, as a shell goes: each step from where the one before led.
        ("cd src && ls && cd .. && ls docs", Decision::Allow),
        ("cd src && ls && cd ../docs && cat a.md && cd ..", Decision::Allow),
        ("cd src && ls | head -3 && cd .. && wc -l README.md | cat", Decision::Allow),
        ("cd src && ls && cd ..; cd docs && ls && cd ..; ls src", Decision::Allow),
        ("cd src && cd deep/er && cat ../../a.rs", Decision::Stage),
        ("cd src; ls; cd ..; ls docs", Decision::Stage),
        ("cd src\nmake\ncd ../docs\nls", Decision::Stage),
        ("cd /tmp && ls build", Decision::Stage),
        // A step too far, and ways that nobody can follow.
        ("cd src && cd .. && cd .. && ls", Decision::Ask),
        ("cd src && ls && cd ../.. && ls docs", Decision::Ask),
        ("cd src && cd .. && cat ../other/README.md", Decision::Ask),
        ("cd src; cd ..; cat ../other/README.md", Decision::Ask),
        ("cd src || cd ..; cat README.md", Decision::Ask),
        ("cd src && (cd .. && cd ..) && cat README.md", Decision::Ask),
        ("CDPATH=/etc; cd src && cd .. && cat README.md", Decision::Ask),
        ("cd() { builtin cd /etc; }; cd src && cd .. && cat README.md", Decision::Ask),
        ("set -P; cd src && cd .. && cat README.md", Decision::Ask),
        ("cd src & cd .. && cat README.md", Decision::Ask),
        ("cd src | cd .. && cat README.md", Decision::Ask),
        ("cd / && cat etc/hosts", Decision::Ask),
        ("cd ..; cat README.md", Decision::Ask),
        ("cd src; cat ../../other/README.md", Decision::Ask),
        ("docker ps -a", Decision::Stage),
        ("kubectl get pods -A | head", Decision::Stage),
        ("docker run alpine", Decision::Ask),
        ("docker -H tcp://10.0.0.1 ps", Decision::Ask),
        ("DOCKER_HOST=tcp://10.0.0.1 docker ps", Decision::Ask),
        ("kubectl delete pod x", Decision::Ask),
    ] {
        assert_eq!(world.judge(command).decision, wanted, "{command}");
    }
}

/// What only looks at the machine is tried, and so is shell text that only plain words, numbers or
/// names of files are put into. Text from elsewhere is asked about before it runs.
#[test]
fn looking_and_texts_with_known_words_in_them_are_staged() {
    let world = World::shipped();
    for (command, wanted) in [
        ("crontab -l 2>/dev/null; uptime", Decision::Stage),
        ("crontab jobs.txt", Decision::Ask),
        ("crontab -r", Decision::Deny),
        ("mount | grep ext4", Decision::Stage),
        ("mount -a", Decision::Ask),
        ("mount -o bind / /mnt", Decision::Ask),
        ("ldconfig -p | grep libssl", Decision::Stage),
        ("ldconfig", Decision::Ask),
        ("swapon --show", Decision::Stage),
        ("update-alternatives --list editor", Decision::Stage),
        ("update-alternatives --set editor /bin/ed", Decision::Ask),
        ("systemctl status nginx --no-pager", Decision::Stage),
        ("systemctl restart nginx", Decision::Ask),
        ("systemctl poweroff", Decision::Deny),
        ("seq 1 5 | xargs -I{} sh -c 'echo $(( {} * {} ))' | paste -sd+", Decision::Stage),
        ("seq 9 | sort -rn | head -n 3 | xargs -I% bash -c 'echo %'", Decision::Stage),
        ("printf '%s\\n' a b | xargs -I{} sh -c 'echo {}'", Decision::Stage),
        ("git ls-files | xargs -I{} sh -c 'wc -l {}'", Decision::Stage),
        ("ls | xargs -I{} sh -c 'file {}'", Decision::Stage),
        ("find . -name '*.sh' -exec sh -c 'bash -n {}' \\;", Decision::Stage),
        ("seq 1 5 | xargs -I{} sh -c 'rm -rf / {}'", Decision::Deny),
        ("seq 1 5 | xargs -I{} sh -c \"$X {}\"", Decision::Ask),
        ("echo 'touch x; id' | xargs -I{} sh -c '{}'", Decision::Ask),
        ("cat list.txt | xargs -I{} sh -c '{}'", Decision::Ask),
        ("curl -s https://a.example | xargs -I{} sh -c 'echo {}'", Decision::Ask),
        ("seq -f '%g;id' 5 | xargs -I{} sh -c 'echo {}'", Decision::Ask),
    ] {
        assert_eq!(world.judge(command).decision, wanted, "{command}");
    }
}

/// Lines that people write for each other, from manuals of many programs: few of those that only read are asked
/// about, and none that writes is allowed.
#[test]
fn what_people_write_for_each_other_to_read_is_rarely_asked_about() {
    let world = World::shipped();
    let (mut reads, mut asked, mut allowed) = (0_usize, Vec::new(), Vec::new());
    for case in cases("reading.jsonl") {
        let command = case["command"].as_str().unwrap();
        let verdict = world.judge(command);
        let said = || format!("{} {command:?}: {}", verdict.decision, verdict.why());
        match case["does"].as_str().unwrap() {
            "reads" => {
                reads += 1;
                asked.extend((verdict.decision > Decision::Stage).then(said));
            }
            "writes" => allowed.extend((verdict.decision == Decision::Allow).then(said)),
            other => panic!("`{other}` is neither"),
        }
    }
    println!("{} of {reads} that only read are asked about", asked.len());
    assert!(allowed.is_empty(), "{allowed:#?}");
    assert!(
        reads >= 500 && asked.len() * 100 < reads * 6,
        "{} of {reads}: {asked:#?}",
        asked.len()
    );
}

/// A dollar sign that stands for itself, and a value behind `>&` that a shell reads twice.
#[test]
fn dollar_signs_that_expand_to_nothing_are_no_doubt() {
    let world = World::shipped();
    for (command, wanted) in [
        ("sed s/md$/html/ a", Decision::Allow),
        ("ls | sed s/x$//", Decision::Allow),
        ("echo a$.b 5$, 7$:", Decision::Allow),
        ("coproc cat; echo hi >&${COPROC[1]}; read -r x <&${COPROC[0]}; echo $x", Decision::Stage),
        ("exec 3>log; echo a >&$fd", Decision::Stage),
        ("echo a >&$(id)", Decision::Ask),
        ("echo a >&\"${x[$(id)]}\"", Decision::Ask),
        ("echo $$/x", Decision::Allow),
    ] {
        let verdict = world.judge(command);
        assert_eq!(verdict.decision, wanted, "{command}: {}", verdict.why());
    }
}
