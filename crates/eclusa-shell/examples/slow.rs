//! Times.
use std::time::Instant;
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let depth: usize = args[1].parse().unwrap();
    let (o, c) = (args[2].replace("\\n","\n"), args.get(3).cloned().unwrap_or_default().replace("\\n","\n"));
    for s in [format!("{}a{}", o.repeat(depth), c.repeat(depth)), o.repeat(depth)] {
        let t = Instant::now();
        let a = eclusa_shell::analyse_with(&s, &|_| Default::default());
        if t.elapsed().as_millis() > 300 { println!("{:?} {} {:?}", t.elapsed(), args[2], a.refused.map(|r| r.what)); }
    }
}
