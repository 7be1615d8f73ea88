//! What is read in each line of the input, for people who look for a mistake.
use std::io::BufRead;
fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        let (id, script) = match serde_json::from_str::<serde_json::Value>(&line) {
            Ok(v) => (format!("{} {}", v["id"].as_str().unwrap_or(""), v["must"].as_str().unwrap_or("")), v["command"].as_str().unwrap_or("").to_owned()),
            Err(_) => (String::new(), line.replace("\\n", "\n")),
        };
        let a = eclusa_shell::analyse_with(&script, &|_| eclusa_shell::Inner::default());
        println!("== {id} {script:?}");
        if let Some(r) = &a.refused { println!("   REFUSED {} | {}", r.what, r.at); }
        if let Some(r) = &a.fork_bomb { println!("   BOMB {r}"); }
        for d in &a.doubts { println!("   DOUBT {} | {:?}", d.what, d.at); }
        for c in &a.commands {
            println!("   {:?}{}{} {:?}", c.via, if c.background {" &"} else {""}, c.assignments.iter().map(|a| format!(" {}={:?}", a.name, a.value.parts)).collect::<String>(), c.words.iter().map(|w| match w.text() { Some(t) => t.into_owned(), None => format!("{:?}", w.parts)}).collect::<Vec<_>>());
            for r in &c.redirects { println!("        {:?} {:?}", r.kind, r.target.parts); }
        }
    }
}
