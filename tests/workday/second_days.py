"""The projects of five further days, labelled before they were lived for the first time: a monorepo of npm workspaces, data science
with a notebook server, Rust with a build script and a database, documents with a watcher, three agents in three working trees of one
repository. Each builds and tests itself without a network. `PROJECTS` maps a day to what makes it."""


def mono_shop(p):
    p.file(".gitignore", "node_modules/\ndist/\n*.tsbuildinfo\n.cache/\n*.log\n")
    p.file(".npmrc", "save-exact=true\nfund=false\n")
    p.file("package.json", """
{
  "name": "shop",
  "private": true,
  "workspaces": ["packages/*"],
  "scripts": {
    "build": "npm run build --workspaces --if-present",
    "test": "npm run test --workspaces --if-present",
    "lint": "node tools/lint.mjs"
  }
}
""")
    p.file("tools/lint.mjs", """
import fs from 'node:fs';
import path from 'node:path';
let bad = 0;
const walk = (dir) => fs.readdirSync(dir, { withFileTypes: true }).forEach((it) => {
  if (['node_modules', 'dist', '.git'].includes(it.name)) return;
  const at = path.join(dir, it.name);
  if (it.isDirectory()) return walk(at);
  if (!/\\.m?js$/.test(it.name)) return;
  fs.readFileSync(at, 'utf8').split('\\n').forEach((line, n) => {
    if (/\\bvar\\b /.test(line)) { bad += 1; console.log(`${at}:${n + 1} var`); }
  });
});
walk('packages');
console.log(`${bad} problems`);
process.exit(bad ? 1 : 0);
""")
    for name, needs in (("money", ""), ("cart", '"@shop/money": "1.0.0"'), ("web", '"@shop/cart": "1.0.0"')):
        p.file(f"packages/{name}/package.json", f"""
{{
  "name": "@shop/{name}",
  "version": "1.0.0",
  "type": "module",
  "main": "index.js",
  "scripts": {{ "build": "node ../../tools/build.mjs", "test": "node --test" }},
  "dependencies": {{ {needs} }}
}}
""")
    p.file("tools/build.mjs", "import fs from 'node:fs';\nfs.mkdirSync('dist', { recursive: true });\nfs.writeFileSync('dist/index.js', '// built\\n' + fs.readFileSync('index.js', 'utf8'));\nconsole.log('built', process.env.npm_package_name);\n")
    p.file("packages/money/index.js", "export const cents = (text) => Math.round(Number(text) * 100);\nexport const show = (n) => (n / 100).toFixed(2);\n")
    p.file("packages/money/money.test.js", "import test from 'node:test';\nimport assert from 'node:assert';\nimport { cents, show } from './index.js';\ntest('cents', () => assert.equal(cents('1.25'), 125));\ntest('show', () => assert.equal(show(125), '1.25'));\n")
    p.file("packages/cart/index.js", "import { cents } from '@shop/money';\nexport const total = (lines) => lines.reduce((sum, it) => sum + cents(it.price) * it.count, 0);\n")
    p.file("packages/cart/cart.test.js", "import test from 'node:test';\nimport assert from 'node:assert';\nimport { total } from './index.js';\ntest('total', () => assert.equal(total([{ price: '2.50', count: 2 }]), 500));\n")
    p.file("packages/web/index.js", "import http from 'node:http';\nimport { total } from '@shop/cart';\nconst port = Number(process.env.PORT || 3000);\nexport const serve = () => http.createServer((_, out) => out.end(`total ${total([{ price: '1.00', count: 3 }])}\\n`)).listen(port);\nif (process.argv[1].endsWith('index.js')) serve();\n")
    p.sh("npm install --offline --ignore-scripts --no-audit --no-fund >/dev/null 2>&1")
    p.commit("shop: money, cart, web")
    p.file("README.md", "# shop\n\n`npm run build`, `npm test`.\n")
    p.commit("readme", "sam")
    p.origin("https://git.example.invalid/shop/shop.git")


def ds_tides(p):
    p.file(".gitignore", "__pycache__/\n.venv/\n.ipynb_checkpoints/\nout/\n*.db\n*.log\n")
    p.file(".env.test", "TIDES_STATION=test\n")
    p.file("kernel.py", """
# A server that runs cells which are posted to it, one after the other, in one namespace.
import contextlib, http.server, io, sys, traceback

SPACE = {}


class Cells(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        code = self.rfile.read(int(self.headers["content-length"])).decode()
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                exec(code, SPACE)
            except Exception:
                traceback.print_exc(file=out)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(out.getvalue().encode())

    def log_message(self, *_):
        pass


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Cells).serve_forever()
""")
    p.file("tides/__init__.py", "")
    p.file("tides/load.py", "import csv\n\n\ndef rows(path):\n    with open(path) as file:\n        return [(it['station'], float(it['metres'])) for it in csv.DictReader(file)]\n")
    p.file("tides/stats.py", "from collections import defaultdict\n\n\ndef means(rows):\n    by = defaultdict(list)\n    for station, metres in rows:\n        by[station].append(metres)\n    return {it: sum(all) / len(all) for it, all in by.items()}\n")
    p.file("tests/test_stats.py", "import unittest\n\nfrom tides.stats import means\n\n\nclass Means(unittest.TestCase):\n    def test_by_station(self):\n        self.assertEqual(means([('a', 1.0), ('a', 3.0), ('b', 5.0)]), {'a': 2.0, 'b': 5.0})\n")
    lines = [f"{'abc'[n % 3]},{(n * 37 % 101) / 10}" for n in range(900)]
    p.file("data/tides.csv", "station,metres\n" + "\n".join(lines) + "\n")
    p.file("explore.ipynb", '{"cells": [{"cell_type": "code", "execution_count": null, "metadata": {}, "outputs": [], "source": ["from tides.load import rows\\n", "len(rows(\'data/tides.csv\'))"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n')
    p.commit("tides: loading, means, a notebook")
    p.file("pool.py", "import multiprocessing as m\n\nfrom tides.load import rows\n\n\ndef count(station):\n    return station, sum(it[0] == station for it in rows('data/tides.csv'))\n\n\nif __name__ == '__main__':\n    m.set_start_method('forkserver')\n    with m.Pool(2) as pool:\n        print(dict(pool.map(count, 'abc')))\n")
    p.commit("counting in a pool", "ida")
    p.file("README.md", "# tides\n\n`python3 -m unittest`, `python3 kernel.py 8899`.\n")
    p.commit("readme", "sam")
    p.origin("https://git.example.invalid/ds/tides.git")


def rs_vault(p):
    p.file(".gitignore", "/target\n*.db\n.env\n*.log\n")
    p.file("Cargo.toml", '[package]\nname = "vault"\nversion = "0.1.0"\nedition = "2021"\nbuild = "build.rs"\n\n[dependencies]\n')
    p.file("build.rs", """
use std::{env, fs, path::Path};

/// Puts the migrations into the program.
fn main() {
    println!("cargo::rerun-if-changed=migrations");
    let mut names: Vec<_> = fs::read_dir("migrations").unwrap().map(|it| it.unwrap().path()).collect();
    names.sort();
    let all: Vec<String> = names.iter().map(|it| format!("({:?}, {:?})", it.file_stem().unwrap().to_str().unwrap(), fs::read_to_string(it).unwrap())).collect();
    let text = format!("pub const MIGRATIONS: &[(&str, &str)] = &[{}];\\n", all.join(", "));
    fs::write(Path::new(&env::var("OUT_DIR").unwrap()).join("migrations.rs"), text).unwrap();
}
""")
    p.file("src/main.rs", """
include!(concat!(env!("OUT_DIR"), "/migrations.rs"));

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("list") => MIGRATIONS.iter().for_each(|it| println!("{}", it.0)),
        Some("sql") => MIGRATIONS.iter().for_each(|it| print!("{}", it.1)),
        _ => std::process::exit(2),
    }
}

#[cfg(test)]
mod tests {
    use super::MIGRATIONS;

    #[test]
    fn they_are_in_order() {
        assert!(MIGRATIONS.windows(2).all(|it| it[0].0 < it[1].0));
    }
}
""")
    p.file("migrations/001_items.sql", "create table items (id integer primary key, name text not null);\n")
    p.file("migrations/002_tags.sql", "create table tags (item integer references items, tag text);\n")
    p.file("migrate.sh", "#!/bin/sh\nset -e\ncargo run -q -- sql | sqlite3 \"${1:-vault.db}\"\necho migrated\n", 0o755)
    p.file("db.sh", """
#!/bin/bash
# A PostgreSQL of one's own, in a directory: start, stop, or run words of SQL in it.
set -e
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
data=${PGDATA_DIR:-/tmp/vault-pg}
case $1 in
  start) [ -d "$data" ] || "$bin/initdb" -D "$data" -A trust -U vault > /dev/null
         "$bin/pg_ctl" -D "$data" -o "-k /tmp -c listen_addresses=''" -l /tmp/vault-pg.log -w start > /dev/null; echo started ;;
  stop) "$bin/pg_ctl" -D "$data" -m fast stop > /dev/null; echo stopped ;;
  *) "$bin/psql" -h /tmp -U vault -d postgres -Atc "$1" ;;
esac
""", 0o755)
    p.commit("vault: migrations in the program")
    p.file("README.md", "# vault\n\n`cargo test`, `./migrate.sh`, `./db.sh start`.\n")
    p.commit("readme", "sam")
    p.origin("https://git.example.invalid/rs/vault.git")


def docs_watch(p):
    p.file(".gitignore", "_site/\n*.log\n__pycache__/\n")
    p.file("build.py", """
import html, pathlib, re, sys

SRC, OUT = pathlib.Path("docs"), pathlib.Path("_site")


def page(text):
    out = []
    for line in text.splitlines():
        if m := re.match(r"(#+) (.*)", line):
            out.append(f"<h{len(m[1])}>{html.escape(m[2])}</h{len(m[1])}>")
        elif line:
            out.append(f"<p>{html.escape(line)}</p>")
    return "\\n".join(out) + "\\n"


def build():
    OUT.mkdir(exist_ok=True)
    for path in sorted(SRC.glob("*.md")):
        (OUT / (path.stem + ".html")).write_text(page(path.read_text()))
    return len(list(SRC.glob("*.md")))


if __name__ == "__main__":
    print(build(), "pages")
""")
    p.file("watch.py", """
# Serves _site and builds it again whenever a page has changed.
import functools, http.server, pathlib, sys, threading, time

import build


def stamp():
    return sorted((it.name, it.stat().st_mtime_ns, it.read_text()) for it in pathlib.Path("docs").glob("*.md"))


def watch():
    last = None
    while True:
        now = stamp()
        if now != last:
            build.build()
            last = now
            print("built", flush=True)
        time.sleep(0.1)


threading.Thread(target=watch, daemon=True).start()
serve = functools.partial(http.server.SimpleHTTPRequestHandler, directory="_site")
serve.log_message = lambda *_: None
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), serve).serve_forever()
""")
    p.file("links.py", "import pathlib, re, sys\n\nbad = 0\nfor page in pathlib.Path('docs').glob('*.md'):\n    for link in re.findall(r'\\]\\(([^)#:]+)\\)', page.read_text()):\n        if not (page.parent / link).exists():\n            bad += 1\n            print(f'{page}: {link}')\nprint(f'{bad} broken')\nsys.exit(bad > 0)\n")
    p.file("docs/index.md", "# Home\n\nSee [install](install.md) and [use](use.md).\n")
    p.file("docs/install.md", "# Install\n\nDownload it. Put it on the path.\n")
    p.file("docs/use.md", "# Use\n\nRun it with a file.\n")
    p.commit("docs: three pages, a builder, a watcher")
    p.file("docs/faq.md", "# Questions\n\nWhy? Because.\n")
    p.commit("docs: questions", "ida")
    p.file(".github/workflows/docs.yml", "name: docs\non: [push]\njobs:\n  docs:\n    runs-on: ubuntu-latest\n    steps:\n      - run: python3 build.py\n")
    p.commit("ci: docs", "sam")
    p.origin("https://git.example.invalid/docs/site.git")


def three_trees(p):
    p.file(".gitignore", ".trees/\n__pycache__/\n*.log\n")
    p.file("api/users.py", "USERS = {'ann': 1}\n\n\ndef find(name):\n    return USERS.get(name)\n")
    p.file("ui/page.py", "def title(name):\n    return f'<h1>{name}</h1>'\n")
    p.file("docs/guide.md", "# Guide\n\nUsers have names.\n")
    p.file("tests/test_all.py", "import unittest\n\nfrom api.users import find\nfrom ui.page import title\n\n\nclass All(unittest.TestCase):\n    def test_find(self):\n        self.assertEqual(find('ann'), 1)\n\n    def test_title(self):\n        self.assertEqual(title('x'), '<h1>x</h1>')\n")
    p.file("Makefile", "test:\n\t@python3 -B -m unittest -q\n")
    p.commit("all: api, ui, docs")
    p.git("config", "rerere.enabled", "true")
    for name in ("api", "ui", "docs"):
        p.git("worktree", "add", "-q", "-b", f"agent/{name}", f".trees/{name}")
    p.origin("https://git.example.invalid/all/all.git")


PROJECTS = {"mono-shop": mono_shop, "ds-tides": ds_tides, "rs-vault": rs_vault, "docs-watch": docs_watch, "three-trees": three_trees}
