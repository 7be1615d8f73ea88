//! Catastrophes that a red team found undenied, each with siblings, and what only looks like them.

fn is_catastrophic(script: &str) -> bool {
    crate::analyse(script).catastrophe.is_some()
}

#[test]
fn what_was_not_denied_is_found_with_its_siblings() {
    let families = [
        [
            "git clean -fdx /",
            "git clean -ffdx ~",
            "git clean -xfd -- /etc",
            "git clean -f -d -x /usr/",
            "git clean --force -dx '/'",
            "git clean -fdx /home",
        ],
        [
            "make -C / clean",
            "make -C/ distclean",
            "make --directory=/usr clean",
            "make --directory / mrproper",
            "gmake -C /etc uninstall",
            "cd / && make clean",
        ],
        [
            "cat /dev/null > /etc/fstab",
            ": > /etc/fstab",
            "rm -f /etc/fstab",
            "truncate -s 0 /etc/nsswitch.conf",
            "cp /dev/null /etc/crypttab",
            "mv /etc/fstab /tmp/x",
        ],
        [
            "passwd -d root",
            "passwd --delete root",
            "passwd -l root",
            "usermod -p '' root",
            "usermod -L root",
            "userdel root",
        ],
        [
            "tar xPf x.tar",
            "tar -xPf x.tar",
            "tar -x -P -f x.tar",
            "tar --extract --absolute-names --file x.tar",
            "tar xzPf a.tgz",
            "tar -P -xvf x.tar",
        ],
        [
            "b='c[$(rm -rf /)]'; : $((b))",
            "b='c[`rm -rf /`]'; echo $((b + 1))",
            "b='c[$(rm -rf ~)]'; let d=b",
            "b='c[$(rm -rf /)]'; [[ $b -eq 1 ]]",
            "b='c[$(rm -rf /)]'; ((b))",
            "b='x[$(rm -rf /etc)]'; declare -i d=b",
        ],
        [
            "b='$(rm -rf /)'; : ${b@P}",
            "b='`rm -rf /`'; echo \"${b@P}\"",
            "b='a $(rm -rf ~)'; : \"${b@P}\"",
            "export b='$(rm -rf /)'; : ${b@P}",
            "b='$(rm -rf /usr)'; c=${b@P}",
            "b='$(rm -rf /)'; printf %s \"${b@P}\"",
        ],
        [
            "IFS=,; x=rm,-rf,/; $x",
            "IFS=:; x=rm:-rf:/; $x",
            "IFS=_; c=rm_-rf_/; $c",
            "export IFS=,; x=rm,-rf,/; $x",
            "IFS=,; x=sudo,rm,-rf,/; $x",
            "IFS=+; x=rm+-rf+~; $x",
        ],
    ];
    for command in families.as_flattened() {
        assert!(is_catastrophic(command), "{command}");
    }
    let harmless = [
        "git clean -fdx",
        "git clean -fdx build/",
        "git clean -n /",
        "make -C / help",
        "make -C sub clean",
        "make clean",
        "cat /etc/fstab",
        "echo '/dev/sdb1 /data ext4 defaults 0 2' >> /etc/fstab",
        "passwd -S root",
        "passwd someone",
        "tar xf x.tar",
        "tar cPf x.tar src",
        "tar xf Pictures.tar",
        "tar -xfP.tar",
        "a=1; b=2; echo $((a + b))",
        "b='$(date)'; : ${b@P}",
        "IFS=,; x=a,b,c; echo $x",
        "test -f x && echo 'never run rm -rf /'",
    ];
    for command in harmless {
        assert!(!is_catastrophic(command), "{command}");
    }
}

/// A command that a setting or a variable names for git to run is read like any other.
#[test]
fn commands_in_settings_and_variables_of_git_are_read() {
    let runs_rm = |script: &str| {
        let words = |it: &crate::Command| {
            it.words.first().and_then(|it| it.text().map(|it| it.into_owned()))
        };
        crate::analyse(script).commands.iter().any(|it| words(it).as_deref() == Some("rm"))
    };
    for script in [
        "git -c core.pager='rm -rf x' log",
        "git -c pager.log='rm -rf x' log",
        "git -c core.fsmonitor='rm -rf x' status",
        "git -c alias.z='!rm -rf x' z",
        "GIT_PAGER='rm -rf x' git log",
        "PAGER='rm -rf x' git log",
        "GIT_EDITOR='rm x' git commit --amend",
        "GIT_SSH_COMMAND='rm x' git fetch",
        "GIT_EXTERNAL_DIFF='rm x' git diff",
    ] {
        assert!(runs_rm(script), "{script}");
    }
    assert!(!runs_rm("GIT_PAGER=cat git log -- rm"));
    assert!(is_catastrophic("GIT_PAGER='rm -rf /' git log"));
}
