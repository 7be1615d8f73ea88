"""Lines of the corpora as calls: those that only read, and those that write to the workspace alone, in a repository
that has the files which they name. Used by `odd-workspaces`, which plays each call plainly and through Eclusa."""
import json, pathlib, re, shutil, subprocess

CORPORA = pathlib.Path(__file__).resolve().parent.parent / "corpus"

# What looks at this machine's processes, network, mounts and clock: a sandbox has its own. Compared by exit code.
MACHINE = re.compile(r"\b(ps|top|pgrep|pidof|pstree|uptime|who|w|last|users|free|vmstat|iostat|mpstat|sar|ss|netstat|ip|ifconfig|route|arp|bridge|tc|ethtool|iw|nmcli"
                     r"|lsof|fuser|df|mount|findmnt|lsblk|lsmod|dmesg|journalctl|systemctl|systemd-analyze|loginctl|hostnamectl|timedatectl|localectl|resolvectl|busctl|coredumpctl"
                     r"|date|env|printenv|set|export|declare|tty|id|groups|umask|ulimit|history|jobs|times|hostname|uname|sysctl|getconf|nproc|lscpu|stat|ls -l\S*|tree|du|time"
                     r"|mktemp|uuidgen|shuf|\$RANDOM|RANDOM|\$\$|openssl rand|random|timeit|gpg|ipcs|locale|type|which|command|hash|getent|ldd|curl|wget|ping|dig|nc|host|nslookup)\b|ls -\S*i|comm -3 <.sort a|-newer|openssl verify|npm explain|XDG_|/proc|/dev|/sys|/var/|~|\$HOME|\$PATH|\$PPID")

# What writes times and numbers of files down: which files there are is compared, not what is in them.
DATED = re.compile(r"\bzip\b|\bcpio\b|-fls|\bdd\b|\btar [^|]*[cr][a-z]*f|\bgzip\b")

# Writers that keep to the workspace.
KEEPS_TO_FILES = re.compile(r"^(echo|printf|sort|tee|truncate|split|csplit|touch|mkdir|cp|mv|ln|rm|sed|awk|gawk|perl|jq|tr|git (add|rm|mv|tag|branch|notes|stash|config user)|tar|gzip|gunzip|bzip2|xz|zip|unzip"
                            r"|chmod|patch|install|dd|find|sqlite3|base64|iconv|paste|cut|join|comm|uniq|head|tail|cat|diff|expand|fold|nl|tac|rev|shred)\b")
NOT_PLAYED = re.compile(r"\bsudo\b|\bdoas\b|\bsu\b|/dev/sd|/etc|/usr|/var|/boot|/root|/home|~|\.\./|^\s*/|\bread\b|\$HOME|systemctl|reboot|shutdown|kill|fsck|mkfs|docker|kubectl|ssh|yes\b")
NAMES = re.compile(r"(?<![\w/.$~*-])((?:[\w-]+/)*[\w-]+\.(?:txt|log|md|csv|tsv|json|jsonl|yaml|yml|toml|py|js|ts|rs|c|h|sh|xml|html|ini|conf|sql|patch|tar|gz|tgz|zip|db|pem|crt|java|go|rb|php|bin|lst|old|new|bak|tmp|sum))(?![\w*])")

CONTENT = {
    "json": '{"name": "app", "version": "1.2", "items": [{"name": "x", "price": 12, "kind": "a"}, {"name": "y", "price": 3, "kind": "b"}], "scripts": {"test": "true"}}\n',
    "csv": "id,name,amount\n1,ana,10\n2,\"b, c\",20\n3,ida,5\n", "tsv": "id\tname\tamount\n1\tana\t110\n2\tben\t20\n",
    "py": "import os\n\ndef main():\n    return 1  # TODO\n\nmain()\n", "log": "2026-01-01 INFO start id=1\n2026-01-02 ERROR failed id=2\n2026-01-02 INFO end\n",
    "sh": "#!/bin/sh\necho ran\n", "xml": "<a><item id='1'/><item id='2'/></a>\n", "html": "<html><body><p>hi</p></body></html>\n",
    "yaml": "a: 1\nservices:\n  web: {image: x}\n", "toml": "[package]\nname = 'x'\nversion = '1.0'\n", "ini": "[a]\nb=1\n", "sql": "select 1;\n", "patch": "",
}


def cases():
    """`name: maker` for the cases."""
    read, seen = [], set()
    for file in ("reading.jsonl", "shell.jsonl", "shell-more.jsonl"):
        for line in (CORPORA / file).read_text().splitlines():
            row = json.loads(line)
            free = row.get("does") == "reads" or row.get("must") == "allow"
            writes = row.get("does") == "writes" and KEEPS_TO_FILES.match(row["command"])
            command = row["command"]
            if command in seen or "\0" in command or row.get("env") or not (free or writes):
                continue
            if writes and NOT_PLAYED.search(command):
                continue
            seen.add(command)
            read.append((command, bool(writes)))
    reading = [it for it, writes in read if not writes]
    parts = {f"corpus-reading-{n + 1}": reading[n::4] for n in range(4)}
    parts["corpus-writing"] = [it for it, writes in read if writes]
    return parts


def make(at, commands, env):
    """A repository with every file that the lines name."""
    names = {name for command in commands for name in NAMES.findall(command)}
    names |= {"a.txt", "b.txt", "src/main.c", "src/lib.py", "docs/guide.md", "app.log", "data.csv", "package.json", "Makefile", "notes.txt", "list.txt"}
    for name in sorted(names):
        path = at / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            ending = name.rsplit(".", 1)[-1]
            if ending in ("tar", "gz", "tgz", "zip", "db"):
                continue
            path.write_text(CONTENT.get(ending, f"one {name}\ntwo foo\nthree bar\n"))
        except (NotADirectoryError, IsADirectoryError, FileExistsError):
            continue
    (at / "Makefile").write_text("all: a.txt\n\t@echo made\ntest:\n\t@echo tested\nclean:\n\trm -f *.o\n")
    (at / ".gitignore").write_text("build/\n*.o\n")
    # A hook that says that it ran: what runs is part of the comparison.
    script = """git init -q -b main . && printf '#!/bin/sh\\necho hook >> .git/ran.txt\\n' > .git/hooks/post-commit && chmod +x .git/hooks/post-commit
git add -A; git commit -qm first; echo more >> a.txt; git commit -qam second; git branch topic; git tag v1.0; echo edited >> docs/guide.md
tar -czf backup.tar.gz src; tar -cf backup.tar docs; tar -czf release.tar.gz docs; zip -q archive.zip a.txt 2>/dev/null; gzip -k app.log; sqlite3 app.db 'create table users(id); insert into users values(1)' 2>/dev/null; true"""
    subprocess.run(["bash", "-c", script], cwd=at, env=env, capture_output=True)


def plain_words(place):
    """What a plain call runs behind: what is not the copy cannot be written, and no other machine is reached."""
    if subprocess.run(["unshare", "-mnp", "--fork", "true"], capture_output=True).returncode or not shutil.which("unshare"):
        return []
    script = f"mount --bind '{place}' '{place}' && mount -o remount,ro,bind / && mount -t tmpfs t /tmp && cd \"$PWD\" && exec \"$@\""
    return ["unshare", "-mnp", "--fork", "--kill-child", "--mount-proc", "bash", "-c", script, "plain"]
