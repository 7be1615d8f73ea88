//! One connection of a command, from its first byte to its end.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    Host, Proxy, Refusal, Way,
    head::{self, RequestHead},
    hello::{self, Greeting},
    live::{Live, Ticket},
    relay::{Pair, is_timeout},
};

/// How long an answer of the model proxy may be silent: a model thinks, a person is asked.
const MODEL_PROXY_IDLE: Duration = Duration::from_secs(900);

/// How long somebody has to say the word of a proxy.
const STRANGERS_TIME: Duration = Duration::from_secs(5);

/// Serves a connection on a thread of its own.
pub(super) fn start(proxy: &Arc<Proxy>, live: &Arc<Live>, client: TcpStream) {
    let ticket = match live.enter(&client) {
        Ok(ticket) => ticket,
        Err(refusal) => {
            answer(&client, &refusal);
            // Before the word is said nobody knows who it was.
            if proxy.secret.is_none() {
                live.turned_away(refusal);
            }
            return;
        }
    };
    let proxy = proxy.clone();
    let serve = move || {
        let served = serve(&proxy, &client, &ticket);
        let refused = served.as_ref().err().cloned();
        ticket.finish(served);
        // The command hears of it after it is on record.
        if let Some(refusal) = refused {
            turn_away(&client, &refusal);
        }
    };
    // Where no thread can be had, the closure is dropped, and with it the connection.
    let _ = std::thread::Builder::new().name("proxy-call".to_owned()).spawn(serve);
}

fn serve(proxy: &Proxy, client: &TcpStream, ticket: &Ticket) -> Result<(), Refusal> {
    let io = |err: io::Error| Refusal::Malformed(err.to_string());
    client.set_nonblocking(false).map_err(io)?;
    client.set_read_timeout(Some(proxy.limits.idle)).map_err(io)?;
    client.set_write_timeout(Some(proxy.limits.idle)).map_err(io)?;
    let _ = client.set_nodelay(true);
    let Some((head, early)) = read_head(proxy, client)? else { return Ok(()) };
    let RequestHead { host, port, way, .. } = &head;
    if let Some(service) = proxy.model_proxy.as_ref().filter(|_| is_own(client, &head)) {
        ticket.asks(&service.host, service.port, *way);
        let (upstream, place) = connect(proxy, host, &[service.proxy])?;
        ticket.reached(place, &upstream);
        let pair =
            Pair { client, upstream: &upstream, bytes: &ticket.bytes, idle: MODEL_PROXY_IDLE };
        pair.request(&head.rewritten, head.body, &early);
        return Ok(());
    }
    ticket.asks(&host.to_string(), *port, *way);
    if proxy.hosts.closes(host, *port, *way) {
        return Err(Refusal::Rule(host.to_string()));
    }
    if !proxy.hosts.allow(host, *port, *way) {
        return Err(Refusal::Host(host.to_string()));
    }
    let places = proxy.places(host, *port)?;
    let (upstream, place) = connect(proxy, host, &places)?;
    let pair = Pair { client, upstream: &upstream, bytes: &ticket.bytes, idle: proxy.limits.idle };
    match way {
        Way::Plain => {
            ticket.reached(place, &upstream);
            pair.request(&head.rewritten, head.body, &early);
        }
        Way::Tunnel => {
            if !early.is_empty() {
                return Err(Refusal::Malformed("it did not wait for the tunnel".to_owned()));
            }
            (&*client).write_all(b"HTTP/1.1 200 Connection established\r\n\r\n").map_err(io)?;
            // Nothing has been sent to the host so far.
            let Some(greeting) = read_greeting(proxy, client, host)? else {
                return Err(Refusal::Ended);
            };
            ticket.reached(place, &upstream);
            pair.tunnel(&greeting);
        }
    }
    Ok(())
}

/// True when a request is made to the proxy itself.
fn is_own(client: &TcpStream, head: &RequestHead) -> bool {
    let own = client.local_addr();
    let is_own = |own: SocketAddr| head.host == Host::Ip(own.ip()) && head.port == own.port();
    head.way == Way::Plain && own.is_ok_and(is_own)
}

/// The head of the request, and what came after it. `None`: the caller went without a word.
fn read_head(proxy: &Proxy, client: &TcpStream) -> Result<Option<(RequestHead, Vec<u8>)>, Refusal> {
    let secret = proxy.secret.as_ref();
    // Whoever has not said the word has neither much time nor anything to tell.
    let patience = secret.map_or(proxy.limits.idle, |_| proxy.limits.idle.min(STRANGERS_TIME));
    let refused = |why: String| match secret {
        Some(_) => Refusal::Stranger,
        None => Refusal::Malformed(why),
    };
    let mut bytes = Vec::new();
    let deadline = Instant::now() + patience;
    loop {
        if let Some(end) = head::end(&bytes) {
            let early = bytes.split_off(end);
            if secret.is_some_and(|it| !it.is_said_in(&bytes)) {
                return Err(Refusal::Stranger);
            }
            let own = proxy.model_proxy.as_ref().and_then(|_| client.local_addr().ok());
            return head::read(&bytes, own)
                .map(|head| Some((head, early)))
                .map_err(Refusal::Malformed);
        }
        if bytes.len() > proxy.limits.head {
            let most = proxy.limits.head;
            return Err(refused(format!("its head is longer than {most} bytes")));
        }
        match more(client, &mut bytes, deadline) {
            Ok(true) => {}
            Ok(false) if bytes.is_empty() => return Ok(None),
            Ok(false) => return Err(refused("its head is cut short".to_owned())),
            Err(_) if bytes.is_empty() => return Ok(None),
            Err(err) => return Err(refused(err.to_string())),
        }
    }
}

/// The TLS greeting, if it names the host that the tunnel was asked for. `None`: there was none.
fn read_greeting(
    proxy: &Proxy,
    client: &TcpStream,
    host: &Host,
) -> Result<Option<Vec<u8>>, Refusal> {
    let none = |why| Refusal::NoName { host: host.to_string(), why };
    let mut bytes = Vec::new();
    let deadline = Instant::now() + proxy.limits.idle;
    loop {
        match hello::read(&bytes).map_err(none)? {
            Greeting::Whole(named) => {
                return named_right(host, named.as_deref()).map(|()| Some(bytes));
            }
            Greeting::Partial if bytes.len() > hello::MAX_GREETING => {
                return Err(none("its greeting is too long"));
            }
            Greeting::Partial => {}
        }
        match more(client, &mut bytes, deadline) {
            Ok(true) => {}
            Ok(false) | Err(_) if bytes.is_empty() => return Ok(None),
            Ok(false) => return Err(none("its greeting is cut short")),
            Err(_) => return Err(none("its greeting did not come in time")),
        }
    }
}

fn named_right(host: &Host, named: Option<&str>) -> Result<(), Refusal> {
    match (host, named) {
        // An address cannot be named, so that a greeting to one names nothing.
        (Host::Ip(_), None) => Ok(()),
        (Host::Name(_), None) => {
            Err(Refusal::NoName { host: host.to_string(), why: "it names no host" })
        }
        (host, Some(named)) if Host::parse(named).as_ref() == Ok(host) => Ok(()),
        (host, Some(named)) => {
            let named = named.escape_default().to_string();
            Err(Refusal::OtherName { asked: host.to_string(), named })
        }
    }
}

/// Reads once. False: the other side has said everything.
fn more(mut from: &TcpStream, bytes: &mut Vec<u8>, deadline: Instant) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Err(io::ErrorKind::TimedOut.into());
    }
    from.set_read_timeout(Some(left))?;
    loop {
        match from.read(&mut buffer) {
            Ok(read) => {
                bytes.extend_from_slice(buffer.get(..read).unwrap_or_default());
                return Ok(read > 0);
            }
            Err(err) if err.kind() == io::ErrorKind::Interrupted => {}
            Err(err) if is_timeout(&err) => return Err(io::ErrorKind::TimedOut.into()),
            Err(err) => return Err(err),
        }
    }
}

/// Connects to the first of the judged addresses that answers.
fn connect(
    proxy: &Proxy,
    host: &Host,
    places: &[SocketAddr],
) -> Result<(TcpStream, SocketAddr), Refusal> {
    let mut why = "it has no address".to_owned();
    for place in places {
        let opened = TcpStream::connect_timeout(place, proxy.limits.connect).and_then(|stream| {
            stream.set_read_timeout(Some(proxy.limits.idle))?;
            stream.set_write_timeout(Some(proxy.limits.idle))?;
            let _ = stream.set_nodelay(true);
            Ok(stream)
        });
        match opened {
            Ok(stream) => return Ok((stream, *place)),
            Err(err) => why = err.to_string(),
        }
    }
    Err(Refusal::Unreachable { host: host.to_string(), why })
}

/// Tells the command why, and reads what it still sends, so that the answer is not lost.
fn turn_away(client: &TcpStream, refusal: &Refusal) {
    // Inside a tunnel an answer would be taken for the host's.
    if !matches!(refusal, Refusal::OtherName { .. } | Refusal::NoName { .. } | Refusal::Ended) {
        answer(client, refusal);
        let _ = client.set_read_timeout(Some(Duration::from_millis(500)));
        let _ = io::copy(&mut client.take(256 * 1024), &mut io::sink());
    }
    let _ = client.shutdown(Shutdown::Both);
}

fn answer(mut client: &TcpStream, refusal: &Refusal) {
    let status = match refusal {
        Refusal::Malformed(_) => "400 Bad Request",
        // Programs that say the word only where they are asked for it ask again.
        Refusal::Stranger => {
            "407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"eclusa\""
        }
        Refusal::Unresolved { .. } | Refusal::Unreachable { .. } => "502 Bad Gateway",
        Refusal::Busy(_) => "503 Service Unavailable",
        _ => "403 Forbidden",
    };
    let text = format!("{refusal}\n");
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    let _ = client.write_all(head.as_bytes());
    let _ = client.shutdown(Shutdown::Write);
}
