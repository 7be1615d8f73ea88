//! Somebody is asked in a browser: the question is a page on this machine, and its buttons answer.
//! Here a thread presses the button, so that it runs by itself.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::{TcpListener, TcpStream},
};

use eclusa::{prelude::*, render};
use serde_json::json;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Deploy {
    version: String,
}

/// Shows the question until somebody presses a button. The address is known to nobody else: a real
/// page would ask who is there.
fn page(listener: &TcpListener, question: &Question) -> std::io::Result<Answer> {
    for stream in listener.incoming() {
        let mut stream = stream?;
        let mut lines = BufReader::new(&stream).lines().map_while(Result::ok);
        let request = lines.next().unwrap_or_default();
        lines.take_while(|it| !it.is_empty()).for_each(drop);
        let (answer, body) = match request.split(' ').nth(1) {
            Some("/yes") => (Some(Answer::Once), "Done.".to_owned()),
            Some("/no") => (Some(Answer::No("not today".to_owned())), "Refused.".to_owned()),
            // Everything that is shown comes from the question, made visible and harmless.
            _ => (None, render(question).to_string()),
        };
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: text/plain; charset=utf-8\r\nconnection: close";
        let answered = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        stream.write_all(answered.as_bytes())?;
        if let Some(answer) = answer {
            return Ok(answer);
        }
    }
    Ok(Answer::No("nobody answered".to_owned()))
}

fn get(address: std::net::SocketAddr, path: &str) -> std::io::Result<String> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(format!("GET {path} HTTP/1.1\r\nhost: localhost\r\n\r\n").as_bytes())?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    let gate = Gate::builder()
        .tool(FnTool::new("deploy", "Deploys a version.", |it: Deploy| async move {
            Ok::<_, ToolError>(format!("{} is live", it.version))
        }))
        .rule(Rule::new(Decision::Ask).tool(["deploy"])?.because("production is asked about"))
        .approver(FnApprover::new("browser", move |question| {
            page(&listener, question).unwrap_or_else(|err| Answer::No(err.to_string()))
        }))
        .build()?;
    let person = std::thread::spawn(move || {
        let shown = get(address, "/")?;
        println!("{shown}");
        get(address, "/yes")
    });
    let call = ToolCall::new("1", "deploy", json!({"version": "1.2.3"}));
    println!("{}", gate.pass_blocking(call)?.content());
    person.join().map_err(|_| "the person's thread crashed")??;
    Ok(())
}

#[test]
fn it_runs() -> Result<(), Box<dyn std::error::Error>> {
    main()
}
