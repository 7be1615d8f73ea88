"""The projects of the committed workdays: each builds and tests itself without a network. `PROJECTS` maps a day to what makes it."""

IGNORE_PY = "__pycache__/\n*.py[cod]\n.pytest_cache/\n.ruff_cache/\n.mypy_cache/\n.coverage\nhtmlcov/\ncoverage.xml\nbuild/\ndist/\n*.egg-info/\n.venv/\n.env\n*.log\n"


def rs_ledger(p):
    p.file(".gitignore", "/target\n*.log\n.env\n")
    p.file("Cargo.toml", """
[package]
name = "ledger"
version = "0.1.0"
edition = "2021"
description = "Balances of accounts, from a file of bookings"

[dependencies]
""")
    p.file("README.md", "# ledger\n\nReads bookings from CSV and prints balances.\n\n    cargo run -- balance data/sample.csv\n")
    p.file("src/main.rs", """
use std::{env, fs, process::ExitCode};

fn main() -> ExitCode {
    let words: Vec<String> = env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["balance", path] => match fs::read_to_string(path) {
            Ok(text) => match ledger::Ledger::parse(&text) {
                Ok(book) => {
                    print!("{}", ledger::report::balances(&book));
                    ExitCode::SUCCESS
                }
                Err(err) => fail(&err),
            },
            Err(err) => fail(&format!("{path}: {err}")),
        },
        _ => fail("usage: ledger balance FILE"),
    }
}

fn fail(why: &str) -> ExitCode {
    eprintln!("ledger: {why}");
    ExitCode::from(2)
}
""")
    p.file("src/lib.rs", """
//! Accounts, bookings and their sums.

use std::collections::BTreeMap;

pub mod report;

/// An amount in cents.
pub type Cents = i64;

/// One line of a file: an account and what it got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booking {
    pub account: String,
    pub amount: Cents,
}

#[derive(Debug, Default)]
pub struct Ledger {
    pub bookings: Vec<Booking>,
}

impl Ledger {
    pub fn parse(text: &str) -> Result<Ledger, String> {
        let mut ledger = Ledger::default();
        for (number, line) in text.lines().enumerate().skip(1) {
            if line.trim().is_empty() {
                continue;
            }
            let (account, amount) =
                line.split_once(',').ok_or_else(|| format!("line {}: no comma", number + 1))?;
            let amount = parse_amount(amount.trim()).ok_or_else(|| format!("line {}: bad amount", number + 1))?;
            ledger.bookings.push(Booking { account: account.trim().to_owned(), amount });
        }
        Ok(ledger)
    }

    pub fn sums(&self) -> BTreeMap<&str, Cents> {
        let mut sums = BTreeMap::new();
        for booking in &self.bookings {
            *sums.entry(booking.account.as_str()).or_insert(0) += booking.amount;
        }
        sums
    }
}

/// `12.34` as cents.
// TODO: thousands separators
pub fn parse_amount(text: &str) -> Option<Cents> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let whole: Cents = whole.parse().ok()?;
    let part: Cents = format!("{part:0<2}").get(..2)?.parse().ok()?;
    Some(whole * 100 + part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_cents() {
        assert_eq!(parse_amount("12.34"), Some(1234));
        assert_eq!(parse_amount("7"), Some(700));
        assert_eq!(parse_amount("x"), None);
    }

    #[test]
    fn sums_by_account() {
        let book = Ledger::parse("account,amount\\ncash,1.50\\nbank,2\\ncash,0.25\\n").unwrap();
        assert_eq!(book.sums()["cash"], 175);
    }
}
""")
    p.file("src/report.rs", """
use crate::Ledger;

/// One line for each account.
pub fn balances(book: &Ledger) -> String {
    book.sums().iter().map(|(name, sum)| format!("{name:<12}{:>10.2}\\n", *sum as f64 / 100.0)).collect()
}
""")
    p.file("data/sample.csv", "account,amount\ncash,12.50\nbank,100\nrent,-40.25\ncash,3.75\n")
    p.file("rustfmt.toml", 'max_width = 100\nuse_small_heuristics = "Max"\n')
    p.sh("cargo generate-lockfile --offline -q")
    p.commit("ledger: bookings and balances")
    p.file("tests/cli.rs", """
use std::process::Command;

#[test]
fn balances_of_the_sample() {
    let out = Command::new(env!("CARGO_BIN_EXE_ledger")).args(["balance", "data/sample.csv"]).output().unwrap();
    assert!(out.status.success());
    assert!(String::from_utf8(out.stdout).unwrap().contains("cash"));
}
""")
    p.commit("tests: the program itself", "sam")
    p.file(".github/workflows/ci.yml", "name: ci\non: [push]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - run: cargo test\n")
    p.file("docs/format.md", "# The file\n\nA heading, then `account,amount` a line. Amounts have two digits after the point.\n")
    p.commit("docs: the format; ci")
    p.file("CHANGELOG.md", "# Changes\n\n## 0.1.0\n\n- balances\n")
    p.commit("changelog", "ida")
    p.origin("https://git.example.invalid/dana/ledger.git")


def py_orders(p):
    p.file(".gitignore", IGNORE_PY)
    p.file("pyproject.toml", """
[project]
name = "orders"
version = "1.3.0"
requires-python = ">=3.9"

[tool.pytest.ini_options]
testpaths = ["tests"]
pythonpath = ["src"]

[tool.ruff]
line-length = 100

[tool.ruff.lint]
select = ["E", "F", "I", "B", "UP"]

[tool.black]
line-length = 100

[tool.coverage.run]
source = ["orders"]
branch = true
""")
    p.file("README.md", "# orders\n\nCarts, prices and discounts.\n\n    pytest -q\n")
    p.file("src/orders/__init__.py", '"""Carts, prices and discounts."""\n')
    p.file("src/orders/cart.py", '''
"""A cart: what was put into it, and what it costs."""

from dataclasses import dataclass, field
from decimal import Decimal


@dataclass
class Line:
    sku: str
    price: Decimal
    count: int = 1


@dataclass
class Cart:
    lines: list[Line] = field(default_factory=list)

    def add(self, sku: str, price: str, count: int = 1) -> None:
        self.lines.append(Line(sku, Decimal(price), count))

    def total(self) -> Decimal:
        return sum((line.price * line.count for line in self.lines), Decimal("0"))

    def total_with(self, percent: int) -> Decimal:
        # percent off, rounded to cents
        return self.total() - self.total() * percent / 100
''')
    p.file("src/orders/discount.py", '''
from decimal import Decimal

RULES = {"SPRING": 10, "STAFF": 25}


def percent_for(code: str) -> int:
    return RULES.get(code, 0)


def apply(total: Decimal, code: str) -> Decimal:
    return (total * (100 - percent_for(code)) / 100).quantize(Decimal("0.01"))
''')
    p.file("src/orders/cli.py", '''
import json
import sys

from orders.cart import Cart
from orders.discount import apply


def main(argv=None) -> int:
    argv = sys.argv[1:] if argv is None else argv
    if not argv:
        print("usage: python -m orders.cli FILE [CODE]", file=sys.stderr)
        return 2
    cart = Cart()
    for row in json.load(open(argv[0])):
        cart.add(row["sku"], row["price"], row.get("count", 1))
    code = argv[1] if len(argv) > 1 else ""
    print(f"total {apply(cart.total(), code)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
''')
    p.file("tests/test_cart.py", '''
from decimal import Decimal

from orders.cart import Cart


def test_total():
    cart = Cart()
    cart.add("a", "1.25", 2)
    cart.add("b", "3")
    assert cart.total() == Decimal("5.50")


def test_empty():
    assert Cart().total() == 0
''')
    p.file("tests/test_discount.py", '''
from decimal import Decimal

import pytest

from orders.discount import apply, percent_for


@pytest.mark.parametrize("code,percent", [("SPRING", 10), ("STAFF", 25), ("", 0)])
def test_percent(code, percent):
    assert percent_for(code) == percent


def test_lower_case_codes():
    assert apply(Decimal("100"), "spring") == Decimal("90.00")
''')
    p.file("examples/cart.json", '[{"sku": "tea", "price": "4.20", "count": 3}, {"sku": "cup", "price": "9.99"}]\n')
    p.commit("orders: carts and discounts")
    p.file("scripts/gen_skus.py", '''
"""Writes src/orders/skus.py from examples/cart.json."""
import json
import pathlib

rows = json.loads(pathlib.Path("examples/cart.json").read_text())
names = sorted({row["sku"] for row in rows})
pathlib.Path("src/orders/skus.py").write_text("# generated by scripts/gen_skus.py\\nSKUS = " + repr(names) + "\\n")
print(f"{len(names)} skus")
''')
    p.file("Makefile", ".PHONY: test lint\ntest:\n\tpytest -q\nlint:\n\truff check src tests\n")
    p.commit("scripts: skus; a makefile", "sam")
    p.file("src/orders/legacy.py", "def old_total(rows):\n    t = 0\n    for r in rows:\n        t = t + float(r['price']) * int(r.get('count', 1))\n    return t\n")
    p.commit("keep the old total for the migration", "ida")
    p.file(".env", "PAYMENT_TOKEN=example-not-a-real-token\n")
    p.origin("git@git.example.invalid:shop/orders.git")


def node_tasks(p):
    p.file(".gitignore", "node_modules/\ndist/\ncoverage/\n*.log\n.env\n.cache/\n")
    p.file("package.json", """
{
  "name": "tasks",
  "version": "2.1.0",
  "type": "module",
  "private": true,
  "scripts": {
    "test": "node --test",
    "build": "node scripts/build.js",
    "start": "node src/server.js",
    "lint": "tinylint src test",
    "gen": "node scripts/routes.js"
  },
  "dependencies": {
    "leftish": "1.0.0"
  },
  "devDependencies": {
    "tinylint": "1.0.0"
  }
}
""")
    p.file("package-lock.json", """
{
  "name": "tasks",
  "version": "2.1.0",
  "lockfileVersion": 3,
  "requires": true,
  "packages": {
    "": {
      "name": "tasks",
      "version": "2.1.0",
      "dependencies": {"leftish": "1.0.0"},
      "devDependencies": {"tinylint": "1.0.0"}
    },
    "node_modules/leftish": {"version": "1.0.0"},
    "node_modules/tinylint": {"version": "1.0.0", "dev": true, "bin": {"tinylint": "bin.js"}}
  }
}
""")
    p.file("src/store.js", """
import { pad } from "leftish";

export class Store {
  #tasks = new Map();
  #next = 1;

  add(title, { due = null } = {}) {
    if (!title) throw new Error("a task needs a title");
    const task = { id: this.#next++, title, due, done: false };
    this.#tasks.set(task.id, task);
    return task;
  }

  finish(id) {
    const task = this.#tasks.get(id);
    if (!task) throw new Error("no task " + id);
    task.done = true;
    return task;
  }

  all() {
    return [...this.#tasks.values()];
  }

  table() {
    return this.all().map((it) => pad(String(it.id), 3) + " " + it.title).join("\\n");
  }
}
""")
    p.file("src/server.js", """
import { createServer } from "node:http";
import { Store } from "./store.js";

const store = new Store();
store.add("water the plants");
const port = Number(process.env.PORT ?? 3000);

const server = createServer((request, response) => {
  const answer = (code, body) => {
    response.writeHead(code, { "content-type": "application/json" });
    response.end(JSON.stringify(body));
  };
  if (request.url === "/health") return answer(200, { ok: true });
  if (request.url === "/tasks" && request.method === "GET") return answer(200, store.all());
  answer(404, { error: "not found" });
});
server.listen(port, "127.0.0.1", () => console.log("listening on " + port));
""")
    p.file("scripts/build.js", """
import { mkdirSync, readdirSync, copyFileSync, writeFileSync } from "node:fs";

mkdirSync("dist", { recursive: true });
const files = readdirSync("src");
for (const file of files) copyFileSync("src/" + file, "dist/" + file);
writeFileSync("dist/manifest.json", JSON.stringify({ files }, null, 2) + "\\n");
console.log("built " + files.length + " files");
""")
    p.file("scripts/routes.js", """
import { readFileSync, writeFileSync } from "node:fs";

const routes = [...readFileSync("src/server.js", "utf8").matchAll(/request\\.url === "([^"]+)"/g)].map((it) => it[1]);
writeFileSync("src/routes.gen.js", "// generated by scripts/routes.js\\nexport const routes = " + JSON.stringify(routes) + ";\\n");
console.log(routes.join(" "));
""")
    p.file("test/store.test.js", """
import test from "node:test";
import assert from "node:assert/strict";
import { Store } from "../src/store.js";

test("adds and finishes", () => {
  const store = new Store();
  const task = store.add("write");
  assert.equal(store.finish(task.id).done, true);
});

test("a title is needed", () => {
  assert.throws(() => new Store().add(""));
});
""")
    p.file("README.md", "# tasks\n\n`npm test`, `npm start`, `npm run build`.\n")
    p.commit("tasks: a store and a server")
    p.file("docs/api.md", "# API\n\n- `GET /health`\n- `GET /tasks`\n")
    p.commit("docs: the api", "ida")
    p.file("src/format.js", "export function formatDue(due) {\n  return due ? 'due ' + due : 'some day';\n}\n")
    p.commit("format: due dates", "sam")
    p.file("node_modules/leftish/package.json", '{"name": "leftish", "version": "1.0.0", "type": "module", "main": "index.js"}\n')
    p.file("node_modules/leftish/index.js", "export const pad = (text, width) => text.padStart(width);\n")
    p.file("node_modules/tinylint/package.json", '{"name": "tinylint", "version": "1.0.0", "bin": {"tinylint": "bin.js"}}\n')
    p.file("node_modules/tinylint/bin.js", """
#!/usr/bin/env node
const { readdirSync, readFileSync, writeFileSync } = require("node:fs");
const fix = process.argv.includes("--fix");
let bad = 0;
for (const dir of process.argv.slice(2).filter((it) => !it.startsWith("-")))
  for (const name of readdirSync(dir)) {
    const text = readFileSync(dir + "/" + name, "utf8");
    if (fix) writeFileSync(dir + "/" + name, text.replaceAll("'", '"'));
    else text.split("\\n").forEach((line, at) => { if (line.includes("'")) { bad++; console.log(dir + "/" + name + ":" + (at + 1) + ": single quotes"); } });
  }
console.log(bad ? bad + " problems" : "no problems");
process.exit(bad ? 1 : 0);
""", 0o755)
    p.sh("mkdir -p node_modules/.bin && ln -s ../tinylint/bin.js node_modules/.bin/tinylint")
    p.origin("https://git.example.invalid/team/tasks.git")


def c_ring(p):
    p.file(".gitignore", "build/\n*.o\n*.a\ncompile_commands.json\n*.log\ncore\n")
    p.file("Makefile", """
CC ?= cc
CFLAGS ?= -std=c11 -O1 -g -Wall -Wextra
OBJ = build/ring.o

all: build/libring.a build/demo

build/%.o: src/%.c src/ring.h
	@mkdir -p build
	$(CC) $(CFLAGS) -c $< -o $@

build/libring.a: $(OBJ)
	ar rcs $@ $^

build/demo: src/demo.c build/libring.a
	$(CC) $(CFLAGS) $^ -o $@

build/test_ring: tests/test_ring.c build/libring.a
	$(CC) $(CFLAGS) -Isrc $^ -o $@

test: build/test_ring
	./build/test_ring

clean:
	rm -rf build

install: all
	install -m 755 build/demo $(DESTDIR)/usr/local/bin/ring-demo

.PHONY: all test clean install
""")
    p.file("src/ring.h", "#ifndef RING_H\n#define RING_H\n#include <stddef.h>\n\ntypedef struct {\n    int *items;\n    size_t head, len, cap;\n} ring;\n\nring *ring_new(size_t cap);\nvoid ring_free(ring *r);\nint ring_push(ring *r, int value);\nint ring_pop(ring *r, int *value);\n\n#endif\n")
    p.file("src/ring.c", """
#include "ring.h"
#include <stdlib.h>

ring *ring_new(size_t cap) {
    ring *r = malloc(sizeof *r);
    if (!r) return NULL;
    r->items = malloc(cap * sizeof *r->items);
    r->head = r->len = 0;
    r->cap = cap;
    return r;
}

void ring_free(ring *r) {
    free(r->items);
    free(r);
}

int ring_push(ring *r, int value) {
    if (r->len > r->cap) return -1;
    r->items[(r->head + r->len) % r->cap] = value;
    r->len++;
    return 0;
}

int ring_pop(ring *r, int *value) {
    if (r->len == 0) return -1;
    *value = r->items[r->head];
    r->head = (r->head + 1) % r->cap;
    r->len--;
    return 0;
}
""")
    p.file("src/demo.c", '#include "ring.h"\n#include <stdio.h>\n\nint main(void) {\n    ring *r = ring_new(4);\n    for (int i = 1; i <= 4; i++) ring_push(r, i * i);\n    int v;\n    while (ring_pop(r, &v) == 0) printf("%d\\n", v);\n    ring_free(r);\n    return 0;\n}\n')
    p.file("tests/test_ring.c", """
#include "ring.h"
#include <stdio.h>

#define CHECK(what) do { if (!(what)) { printf("FAIL %s:%d %s\\n", __FILE__, __LINE__, #what); failed = 1; } } while (0)

int main(void) {
    int failed = 0, v = 0;
    ring *r = ring_new(2);
    CHECK(ring_push(r, 1) == 0);
    CHECK(ring_push(r, 2) == 0);
    CHECK(ring_push(r, 3) == -1);
    CHECK(ring_pop(r, &v) == 0 && v == 1);
    ring_free(r);
    if (!failed) puts("ok");
    return failed;
}
""")
    p.file("README.md", "# ring\n\nA ring buffer. `make`, `make test`.\n")
    p.commit("ring: push and pop")
    p.file("docs/design.md", "# Design\n\nOne block, a head and a length.\n")
    p.commit("docs: design", "sam")
    p.file("tools/count.sh", "#!/bin/sh\n# lines of code\ncat src/*.[ch] | wc -l\n", 0o755)
    p.commit("tools: count lines", "ida")
    p.origin("https://git.example.invalid/c/ring.git")


def docs_site(p):
    p.file(".gitignore", "_site/\n__pycache__/\n.cache/\n*.tmp\n")
    p.file("build.py", '''
#!/usr/bin/env python3
"""Turns content/*.md into _site/*.html."""
import html
import pathlib
import re
import sys

OUT = pathlib.Path("_site")


def render(text):
    out = []
    for line in text.splitlines():
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            out.append(f"<h{level}>{html.escape(line.lstrip('# '))}</h{level}>")
        elif line.strip():
            line = re.sub(r"\\[([^]]+)\\]\\(([^)]+)\\)", r'<a href="\\2">\\1</a>', html.escape(line, quote=False))
            out.append(f"<p>{line}</p>")
    return "\\n".join(out)


def main():
    OUT.mkdir(exist_ok=True)
    layout = pathlib.Path("layouts/page.html").read_text()
    pages = sorted(pathlib.Path("content").glob("**/*.md"))
    for page in pages:
        target = OUT / page.relative_to("content").with_suffix(".html")
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(layout.replace("{{body}}", render(page.read_text())))
    print(f"{len(pages)} pages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
''', 0o755)
    p.file("layouts/page.html", "<!doctype html>\n<meta charset=utf-8>\n<link rel=stylesheet href=/style.css>\n<main>\n{{body}}\n</main>\n")
    p.file("static/style.css", "main { max-width: 40em; margin: auto }\nh1 { color: #333 }\n")
    p.file("content/index.md", "# Welcome\n\nRead the [guide](guide/start.html) or the [reference](reference.html).\n")
    p.file("content/guide/start.md", "# Getting started\n\nInstall it, then see [configuration](config.html).\n")
    p.file("content/guide/config.md", "# Configuration\n\nOne file. See [start](start.html) and [nothing](missing.html).\n")
    p.file("content/reference.md", "# Reference\n\nEvery word of the color language.\n")
    p.commit("site: the first pages")
    p.file("tools/links.py", '''
"""Says which links of _site lead nowhere."""
import pathlib
import re
import sys

bad = []
for page in sorted(pathlib.Path("_site").glob("**/*.html")):
    for link in re.findall(r'href="([^"]+)"', page.read_text()):
        if not link.startswith(("http", "/")) and not (page.parent / link).exists():
            bad.append(f"{page}: {link}")
print("\\n".join(bad) or "all links lead somewhere")
sys.exit(1 if bad else 0)
''')
    p.commit("tools: check links", "sam")
    for n in range(1, 7):
        p.file(f"content/posts/2025-0{n}-note.md", f"# Note {n}\n\nA note about the color of week {n}.\n")
    p.commit("posts", "ida")
    p.origin("https://git.example.invalid/docs/site.git")


def git_garden(p):
    p.file(".gitignore", "*.swp\n.cache/\nout/\n")
    p.git("config", "user.name", "Dana Dev")
    p.git("config", "user.email", "dana@example.org")
    p.file("app/config.ini", "[server]\nport = 8000\nhost = localhost\n")
    p.file("app/main.txt", "one\ntwo\nthree\nfour\nfive\n")
    p.commit("the app")
    p.file("notes/ideas.md", "- colours\n- sounds\n")
    p.commit("notes")
    p.git("tag", "-a", "v1.0", "-m", "first")
    p.file("app/main.txt", "one\ntwo\nthree (bug)\nfour\nfive\n")
    p.commit("three, wrongly", "sam")
    p.file("app/util.txt", "u1\nu2\n")
    p.commit("util", "ida")
    p.git("switch", "-q", "-c", "feature/port")
    p.file("app/config.ini", "[server]\nport = 9000\nhost = localhost\n")
    p.commit("port 9000", "sam")
    p.file("app/feature.txt", "feature\n")
    p.commit("the feature", "sam")
    p.git("switch", "-q", "main")
    p.git("switch", "-q", "-c", "fix/host")
    p.file("app/config.ini", "[server]\nport = 8000\nhost = 0.0.0.0\n")
    p.commit("listen everywhere", "ida")
    p.git("switch", "-q", "main")
    p.file("app/config.ini", "[server]\nport = 8080\nhost = localhost\n")
    p.commit("port 8080")
    p.file("README.md", "# garden\n\nBranches to play with.\n")
    p.commit("readme")
    p.git("switch", "-q", "-c", "old/experiment", "HEAD~2")
    p.file("exp.txt", "x\n")
    p.commit("an experiment", "ida")
    p.git("switch", "-q", "main")
    p.git("merge", "-q", "--no-ff", "-m", "merge the experiment", "old/experiment")
    p.origin("https://git.example.invalid/garden.git")


def data_sales(p):
    p.file(".gitignore", "data/*.db\ndata/*.db-journal\nreports/\n__pycache__/\n*.tmp\n.ipynb_checkpoints/\n")
    rows = ["day,region,product,units,price"]
    regions, products = ["north", "south", "east", "west"], ["tea", "cup", "pot"]
    for n in range(1, 241):
        rows.append(f"2025-{(n % 12) + 1:02}-{(n % 28) + 1:02},{regions[n % 4]},{products[n % 3]},{(n * 7) % 13 + 1},{(n * 31) % 900 / 100 + 1:.2f}")
    p.file("data/sales.csv", "\n".join(rows) + "\n")
    p.file("migrations/001_sales.sql", "CREATE TABLE sales (day TEXT, region TEXT, product TEXT, units INTEGER, price REAL);\nCREATE TABLE migrations (name TEXT PRIMARY KEY);\n")
    p.file("migrations/002_region_index.sql", "CREATE INDEX sales_region ON sales (region);\n")
    p.file("scripts/migrate.py", '''
"""Applies migrations/*.sql to data/sales.db, each once."""
import pathlib
import sqlite3

db = sqlite3.connect("data/sales.db")
try:
    done = {name for (name,) in db.execute("SELECT name FROM migrations")}
except sqlite3.OperationalError:
    done = set()
for file in sorted(pathlib.Path("migrations").glob("*.sql")):
    if file.name not in done:
        db.executescript(file.read_text())
        db.execute("INSERT INTO migrations VALUES (?)", (file.name,))
        print("applied", file.name)
db.commit()
''')
    p.file("scripts/load.py", '''
import csv
import sqlite3

db = sqlite3.connect("data/sales.db")
with open("data/sales.csv") as file:
    rows = [(r["day"], r["region"], r["product"], int(r["units"]), float(r["price"])) for r in csv.DictReader(file)]
db.execute("DELETE FROM sales")
db.executemany("INSERT INTO sales VALUES (?, ?, ?, ?, ?)", rows)
db.commit()
print(len(rows), "rows")
''')
    p.file("scripts/report.py", '''
import pathlib
import sqlite3

db = sqlite3.connect("data/sales.db")
pathlib.Path("reports").mkdir(exist_ok=True)
lines = ["region,revenue"]
for region, revenue in db.execute("SELECT region, ROUND(SUM(units * price), 2) FROM sales GROUP BY region ORDER BY region"):
    lines.append(f"{region},{revenue}")
pathlib.Path("reports/regions.csv").write_text("\\n".join(lines) + "\\n")
print("\\n".join(lines))
''')
    p.file("analysis.ipynb", '{"cells": [{"cell_type": "code", "execution_count": 1, "metadata": {}, "outputs": [], "source": ["1 + 1"]}], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}\n')
    p.file("README.md", "# sales\n\n1. `python3 scripts/migrate.py`\n2. `python3 scripts/load.py`\n3. `python3 scripts/report.py`\n")
    p.commit("sales: tables, loading, a report")
    p.file("queries/top.sql", "SELECT product, SUM(units) AS units FROM sales GROUP BY product ORDER BY units DESC;\n")
    p.commit("queries", "sam")
    p.sh("python3 scripts/migrate.py && python3 scripts/load.py && rm -rf __pycache__")
    p.origin("https://git.example.invalid/data/sales.git")


def infra_compose(p):
    p.file(".gitignore", ".env\n.env.*\n!.env.example\n.terraform/\n*.tfstate\n*.tfstate.backup\n*.log\nrendered/\n")
    p.file("Dockerfile", "FROM python:3.11-slim\nWORKDIR /app\nCOPY app.py .\nEXPOSE 8000\nCMD [\"python\", \"app.py\"]\n")
    p.file("compose.yaml", "services:\n  web:\n    build: .\n    ports: [\"8000:8000\"]\n    env_file: .env\n  db:\n    image: postgres:15\n    environment:\n      POSTGRES_PASSWORD: ${DB_PASSWORD}\n")
    p.file("app.py", "from http.server import HTTPServer, SimpleHTTPRequestHandler\n\nHTTPServer(('0.0.0.0', 8000), SimpleHTTPRequestHandler).serve_forever()\n")
    p.file(".env.example", "DB_PASSWORD=change-me\n")
    p.file("terraform/main.tf", 'terraform {\n  required_version = ">= 1.5"\n}\n\nresource "local_file" "motd" {\n  filename = "${path.module}/motd.txt"\n  content  = "hello ${var.name}"\n}\n')
    p.file("terraform/variables.tf", 'variable "name" {\n  type    = string\n  default = "staging"\n}\n\nvariable "instance_count" {\n  type    = number\n  default = 2\n}\n')
    p.file("terraform/envs/prod.tfvars", 'name           = "prod"\ninstance_count = 6\n')
    p.file("terraform/envs/staging.tfvars", 'name           = "staging"\ninstance_count = 2\n')
    p.file("scripts/render.py", '''
"""Renders compose.yaml with the values of .env.example into rendered/."""
import pathlib
import re

values = dict(line.split("=", 1) for line in pathlib.Path(".env.example").read_text().splitlines() if "=" in line)
text = pathlib.Path("compose.yaml").read_text()
pathlib.Path("rendered").mkdir(exist_ok=True)
pathlib.Path("rendered/compose.yaml").write_text(re.sub(r"\\$\\{(\\w+)\\}", lambda m: values[m[1]], text))
print("rendered/compose.yaml")
''')
    p.file("Makefile", ".PHONY: render check deploy\nrender:\n\tpython3 scripts/render.py\ncheck:\n\tgrep -q required_version terraform/main.tf && echo ok\ndeploy:\n\tssh deploy@prod.example.invalid 'cd /srv && docker compose up -d'\n")
    p.file("README.md", "# infra\n\n`make render`, `make check`. Deploys are made by people.\n")
    p.commit("infra: compose, terraform")
    p.file("terraform/outputs.tf", 'output "motd" {\n  value = local_file.motd.filename\n}\n')
    p.commit("terraform: an output", "sam")
    p.file("k8s/web.yaml", "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\nspec:\n  replicas: 2\n  template:\n    spec:\n      containers:\n        - name: web\n          image: registry.example.invalid/web:1.4.2\n")
    p.commit("k8s: the web", "ida")
    p.file(".env", "DB_PASSWORD=example-not-a-real-password\n")
    p.origin("https://git.example.invalid/ops/infra.git")


def sh_toolkit(p):
    p.file(".gitignore", "tmp/\n*.log\n.backup/\n")
    p.file("bin/rotate", """
#!/usr/bin/env bash
# Renames FILE to FILE.1, FILE.1 to FILE.2 and so on, keeping N.
set -euo pipefail
file=$1
keep=${2:-3}
for ((n = keep - 1; n >= 1; n--)); do
  [ -e "$file.$n" ] && mv "$file.$n" "$file.$((n + 1))"
done
[ -e "$file" ] && mv "$file" "$file.1"
exit 0
""", 0o755)
    p.file("bin/slug", """
#!/usr/bin/env bash
# Makes a slug of its arguments.
echo $* | tr 'A-Z ' 'a-z-' | tr -cd 'a-z0-9-\\n'
""", 0o755)
    p.file("lib/common.sh", "# shellcheck shell=bash\nsay() { printf '%s\\n' \"$*\"; }\ndie() { say \"$*\" >&2; exit 1; }\n")
    p.file("test/run.sh", """
#!/usr/bin/env bash
# Runs every test/t_*.sh in a directory of its own.
set -u
cd "$(dirname "$0")/.."
failed=0
for t in test/t_*.sh; do
  dir=$(mktemp -d)
  if (export BIN="$PWD/bin"; cd "$dir" && bash "$OLDPWD/$t") > "$dir/log" 2>&1; then
    echo "ok   $t"
  else
    echo "FAIL $t"; sed 's/^/     /' "$dir/log"; failed=1
  fi
  rm -rf "$dir"
done
exit $failed
""", 0o755)
    p.file("test/t_slug.sh", 'set -e\n[ "$("$BIN/slug" Hello World)" = hello-world ]\n')
    p.file("test/t_rotate.sh", 'set -e\necho a > x.log\n"$BIN/rotate" x.log\n[ -e x.log.1 ] && [ ! -e x.log ]\necho b > x.log\n"$BIN/rotate" x.log\n[ "$(cat x.log.2)" = a ]\n')
    p.file("README.md", "# toolkit\n\nSmall scripts. `test/run.sh` tests them.\n")
    p.commit("toolkit: rotate and slug")
    p.file("bin/todo-count", "#!/bin/sh\ngrep -rc TODO \"${1:-.}\" | awk -F: '{n += $2} END {print n}'\n", 0o755)
    p.commit("todo-count", "sam")
    p.file("install.sh", "#!/bin/sh\nset -e\nPREFIX=${PREFIX:-$HOME/.local}\nmkdir -p \"$PREFIX/bin\"\ncp bin/* \"$PREFIX/bin/\"\necho installed to \"$PREFIX/bin\"\n", 0o755)
    p.commit("install", "ida")
    p.origin("https://git.example.invalid/dana/toolkit.git")


PROJECTS = {"rs-ledger": rs_ledger, "py-orders": py_orders, "node-tasks": node_tasks, "c-ring": c_ring, "docs-site": docs_site,
            "git-garden": git_garden, "data-sales": data_sales, "infra-compose": infra_compose, "sh-toolkit": sh_toolkit}
