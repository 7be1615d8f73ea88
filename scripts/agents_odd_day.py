"""What an agent does on a day of seldom work: worktrees, renamed directories, big files, pipes that close, odd names,
programs that end in odd ways. Played by agents_day.py."""
from agents_steps import END, Calls

# By name, in this order. Each is a line of the shell.
LINES = [
    ("worktree", "git worktree add -q trees/one -b side && cd trees/one && echo side > side.txt && git add side.txt && git commit -qm side "
                 "&& cd ../.. && git worktree list | wc -l && git merge -q side && cat side.txt"),
    ("many", "mkdir -p many/one && for i in $(seq 200); do echo $i > many/one/f$i; done; ls many/one | wc -l"),
    ("renamed", "mv many/one many/two && ls many && cat many/two/f7"),
    ("renamed by git", "git mv src lib && git commit -qm renamed && git log --oneline --follow lib/start.txt | wc -l && git status --short | sort | head"),
    ("big", "head -c 30000000 /dev/zero | tr '\\0' x > big.txt; wc -c < big.txt; tail -c 3 big.txt; echo"),
    ("generated", "python3 -c \"open('gen.py', 'w').write('N = 1\\n' * 200000)\"; wc -l gen.py; rm big.txt"),
    ("closed", "yes | head -n 2; cat gen.py | head -n 1; echo ${PIPESTATUS[@]}; seq 1 1000000 | sed 1q"),
    ("both", "{ for i in 1 2 3; do echo out $i; echo err $i >&2; done; } 2>&1"),
    ("killed", "sh -c 'kill -9 $$'; echo $?; sh -c 'kill -TERM $$'; echo $?; timeout 0.2 sleep 5; echo $?"),
    ("dies", "bash -c 'kill -SEGV $$'; exit 42"),
    ("nobody types", "read x; echo \"[$x] $?\"; test -t 0; echo $?; cat; echo end"),
    ("a name", "echo 1 | tee $'new\\nline' 'äöü €.txt' ' blank ' ./-dash && ls -1b; rm -- -dash ' blank '"),
    ("links", "ln -s notes.txt link && cat link && readlink link && ln notes.txt second && stat -c %h notes.txt && rm second"),
    ("script", "printf '#!/bin/sh\\necho ran $1\\n' > run.sh && chmod 755 run.sh && ./run.sh one && stat -c %a run.sh"),
    ("pipe", "mkfifo p && (echo through > p &) && cat p && rm p"),
    ("old", "touch -d '2020-01-02 03:04:05 UTC' old.txt && stat -c %Y old.txt && cp -a old.txt older.txt && stat -c %Y older.txt"),
    ("packed", "tar czf lib.tgz lib && tar tzf lib.tgz | sort && mkdir out && tar xzf lib.tgz -C out && diff -r lib out/lib && echo same"),
    ("made", "printf 'all: made.txt\\nmade.txt:\\n\\techo made > made.txt\\n' > Makefile && make -s && make -s && cat made.txt"),
    ("venv", "python3 -m venv --without-pip venv && venv/bin/python -c 'import sys; print(sys.prefix != sys.base_prefix)' && rm -r venv"),
    ("node", "node -e \"require('fs').writeFileSync('n.txt', 'one\\n')\" && cat n.txt"),
    ("sqlite", "python3 -c \"import sqlite3; d = sqlite3.connect('d.db'); d.execute('create table t (n)'); d.execute('insert into t values (7)'); "
               "d.commit(); print(d.execute('select * from t').fetchall())\" && rm d.db"),
    ("waits", "(sleep 0.3; echo late > late.txt) & wait; cat late.txt"),
    ("variable", "export ODD=1; echo $ODD"),
    ("no variable", "echo \"[$ODD]\""),
    ("stash", "echo more >> notes.txt && git stash -q && cat notes.txt && git stash pop -q && tail -n 1 notes.txt && git commit -qam more"),
    ("reverted", "git revert --no-edit HEAD | head -n 1 | cut -c1-5; git log --format=%s | head -n 2; tail -n 1 notes.txt"),
    ("picked", "git switch -qc pick HEAD~1 && echo p > pick.txt && git add pick.txt && git commit -qm pick && git switch -q main "
               "&& git cherry-pick pick | tail -n 1; git tag v1 && git tag && git log --format=%s | head -n 2"),
    ("rebased", "git switch -qc base HEAD~1 && echo b > base.txt && git add base.txt && git commit -qm base && git rebase -q main && git switch -q main "
                "&& git merge -q --ff-only base && git log --format=%s | head -n 3"),
    ("conflict", "git switch -qc left && echo left > notes.txt && git commit -qam left && git switch -q main && echo right > notes.txt && git commit -qam right "
                 "&& git merge left; git checkout --ours notes.txt && git add notes.txt && git commit -qm merged && cat notes.txt"),
    ("gone", "rm -r many lib.tgz out gen.py && ls -A | sort"),
    ("fails twice", "false || cd no-such-directory; echo $?; pwd"),
    ("long", "seq 1 15000"),
    ("bytes", "printf 'a\\000b\\377c\\n' | od -c | head -n 1; printf '\\033[31mred\\033[0m\\r\\n'"),
    ("clean", "git gc -q && git fsck --strict --no-dangling && git status --short | sort"),
]


def odd_day(agent, work):
    it = Calls(agent, work)
    first = [(name, it.shell(line)) for name, line in LINES]
    own = [] if agent == "codex" else [
        # It has read the file, which then becomes another one behind its back.
        ("reads", it.view("notes.txt")), ("behind its back", it.shell("sed -i s/right/wrong/ notes.txt")),
        ("edits", it.edit("notes.txt", "wrong", "last")), ("writes", it.write("deep/er/new.txt", "one\r\ntwo")),
        ("writes again", it.write("deep/er/new.txt", "three\n")), ("no such file", it.view("nowhere.txt")),
        ("no such text", it.edit("notes.txt", "nowhere", "x")),
    ]
    return [*first, *own, END, ("again", it.shell("cat notes.txt; git log --oneline | wc -l; ls")), END]
