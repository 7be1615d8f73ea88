//! Which stack a nesting needs.
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let kib: usize = args[1].parse().unwrap();
    let depth: usize = args[2].parse().unwrap();
    let s = format!("{}a{}", args[3].replace("\\n","\n").repeat(depth), args.get(4).cloned().unwrap_or_default().replace("\\n","\n").repeat(depth));
    std::thread::Builder::new().stack_size(kib*1024).spawn(move || { let a = eclusa_shell::analyse_with(&s, &|_| Default::default()); println!("{:?}", a.doubts.first()); }).unwrap().join().unwrap();
}
