//! Machines of jobs enrol by the token of their platform: an issuer on loopback, and tokens that nobody should take.

use std::{
    io::{Read as _, Write as _},
    net::TcpListener,
    sync::{Arc, Mutex},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD as BASE64};
use ring::{
    rand::SystemRandom,
    signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _},
};
use serde_json::{Value, json};

use super::server::{Trail, now, work, worker};
use crate::world::{Ran, World};

/// A platform whose keys are published on loopback.
struct Platform {
    url: String,
    key: EcdsaKeyPair,
    /// The name of its key, as it is published.
    kid: Arc<Mutex<String>>,
    /// How often its keys were fetched.
    fetched: Arc<Mutex<usize>>,
}

fn new_key() -> EcdsaKeyPair {
    let (random, kind) = (SystemRandom::new(), &ECDSA_P256_SHA256_FIXED_SIGNING);
    let made = EcdsaKeyPair::generate_pkcs8(kind, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(kind, made.as_ref(), &random).unwrap()
}

fn public(key: &EcdsaKeyPair, kid: &str) -> Value {
    let point = key.public_key().as_ref();
    let (x, y) = (BASE64.encode(&point[1..33]), BASE64.encode(&point[33..]));
    json!({"kid": kid, "kty": "EC", "crv": "P-256", "alg": "ES256", "use": "sig", "x": x, "y": y})
}

impl Platform {
    fn new() -> Platform {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let platform = Platform {
            url: url.clone(),
            key: new_key(),
            kid: Arc::new(Mutex::new("one".to_owned())),
            fetched: Arc::default(),
        };
        let (kid, fetched) = (platform.kid.clone(), platform.fetched.clone());
        let of = |kid: &str| public(&platform.key, kid);
        let key = of("one");
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let (mut request, mut byte) = (Vec::new(), [0]);
                while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap_or(0) > 0 {
                    request.push(byte[0]);
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                let body = if request.starts_with("GET /.well-known") {
                    json!({"issuer": url, "jwks_uri": format!("{url}/keys")})
                } else if request.starts_with("GET /keys") {
                    *fetched.lock().unwrap() += 1;
                    let mut key = key.clone();
                    key["kid"] = json!(*kid.lock().unwrap());
                    json!({"keys": [{"kty": "OKP", "kid": "odd"}, key]})
                } else if request.contains("bearer of-the-job")
                    || request.contains("Bearer of-the-job")
                {
                    json!({"value": request.split_whitespace().nth(1)})
                } else {
                    json!({})
                };
                let body = body.to_string();
                let length = body.len();
                let answer = format!(
                    "HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
                );
                let _ = stream.write_all(answer.as_bytes());
            }
        });
        platform
    }

    fn token(&self, change: impl FnOnce(&mut Value, &mut Value)) -> String {
        let at = now() / 1_000;
        let mut head = json!({"alg": "ES256", "kid": "one", "typ": "JWT"});
        let mut claims = json!({
            "iss": self.url, "aud": "eclusa-acme", "sub": "repo:acme/web:ref:refs/heads/main",
            "repository": "acme/web", "iat": at, "exp": at + 300, "run": format!("{at}"),
        });
        change(&mut head, &mut claims);
        let text =
            format!("{}.{}", BASE64.encode(head.to_string()), BASE64.encode(claims.to_string()));
        let signature = self.key.sign(&SystemRandom::new(), text.as_bytes()).unwrap();
        format!("{text}.{}", BASE64.encode(signature.as_ref()))
    }

    /// A policy that lets jobs of `acme` in, and a rule for their machines alone.
    fn push(&self, trail: &Trail, more: &str) {
        let world = &trail.fleet.world;
        world.write(
            "workspace/policy/enroll.toml",
            &format!(
                "[[enroll]]\nissuer = \"{}\"\naudience = \"eclusa-acme\"\nclaims = {{ repository = \"acme/*\" }}\n\
                 labels = {{ team = \"web\", pool = \"ci\" }}\n{more}",
                self.url
            ),
        );
        world.write(
            "workspace/policy/ci.toml",
            "[fleet]\nfor = { pool = \"ci\" }\n[[rules]]\ndecision = \"deny\"\ntool = \"time\"\n",
        );
        trail.fleet.push("# all\n");
        let file = trail.fleet.documents().display().to_string();
        let ran = world.eclusa(&["fleet", "publish", &file, "--server", &trail.server.url]);
        assert_eq!(ran.code, 0, "{ran:?}");
    }
}

fn enrol(trail: &Trail, machine: &World, token: &str) -> Ran {
    machine.write("token", token);
    let file = machine.path("token").display().to_string();
    let root = trail.fleet.root();
    machine.eclusa(&[
        "fleet",
        "enroll",
        "--oidc",
        &trail.server.url,
        "--fleet",
        "acme",
        "--root",
        &root,
        "--token-file",
        &file,
    ])
}

#[test]
fn a_job_enrols_by_its_token_and_is_what_the_policy_says() {
    let Some(trail) = Trail::new() else { return };
    let platform = Platform::new();
    platform.push(&trail, "");
    let (machine, token) = (worker(), platform.token(|_, _| {}));
    let ran = enrol(&trail, &machine, &token);
    assert!(ran.code == 0 && ran.out.contains("pool=ci, team=web"), "{ran:?}");
    assert!(machine.eclusa(&["check", "time"]).out.starts_with("deny"), "the rule for its label");
    work(&machine, 2);
    let ran = machine.eclusa(&["fleet", "flush", "--wait", "30s"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let told = trail.database.query("select labels->>'pool', ephemeral, (select sum(last - first + 1) from segments) from machines");
    assert_eq!(told, "ci|t|4");
    // The token is no secret that stays here.
    let kept = machine.read("state/eclusa/fleet/documents.json");
    assert!(!kept.contains(token.rsplit_once('.').unwrap().1), "{kept}");
    // Another machine that has it is refused, and so is what it would ship.
    let ran = enrol(&trail, &worker(), &token);
    assert!(ran.code == 1 && ran.err.contains("let another machine in before"), "{ran:?}");
    assert_eq!(trail.database.query("select count(*) from machines"), "1");
    // A newer policy that lets such jobs in no longer gives them no labels.
    trail.fleet.world.write("workspace/policy/enroll.toml", "");
    trail.fleet.push("# two\n");
    let file = trail.fleet.documents().display().to_string();
    trail.fleet.world.eclusa(&["fleet", "publish", &file, "--server", &trail.server.url]);
    assert_eq!(super::sync(&machine).code, 0);
    assert!(machine.eclusa(&["fleet", "status"]).out.contains("labels: none"));
}

/// Whoever has a signature by ES256 can make a second one of the same text.
#[test]
fn another_signature_of_a_token_lets_no_other_machine_in() {
    let Some(trail) = Trail::new() else { return };
    let platform = Platform::new();
    platform.push(&trail, "");
    let token = platform.token(|_, _| {});
    let (text, signature) = token.rsplit_once('.').unwrap();
    let signature = BASE64.decode(signature).unwrap();
    let order = "ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551";
    let (mut other, mut borrow) = (signature.clone(), 0);
    for at in (0..32).rev() {
        let digit =
            i32::from(u8::from_str_radix(order.get(2 * at..2 * at + 2).unwrap(), 16).unwrap());
        let left = digit - i32::from(signature[32 + at]) - borrow;
        borrow = i32::from(left < 0);
        other[32 + at] = u8::try_from(left.rem_euclid(256)).unwrap();
    }
    let other = format!("{text}.{}", BASE64.encode(&other));
    assert_ne!(other, token);
    assert_eq!(enrol(&trail, &worker(), &other).code, 0, "the issuer has signed it");
    for again in [&token, &other] {
        let ran = enrol(&trail, &worker(), again);
        assert!(ran.code == 1 && ran.err.contains("let another machine in before"), "{ran:?}");
    }
    assert_eq!(trail.database.query("select count(*) from machines"), "1");
}

#[test]
fn a_token_that_is_not_of_such_a_job_lets_nobody_in() {
    let Some(trail) = Trail::new() else { return };
    let platform = Platform::new();
    platform.push(&trail, "");
    let at = now() / 1_000;
    let other = Platform { key: new_key(), ..Platform::new() };
    let stolen = platform.token(|_, _| {});
    let unsigned = stolen.rsplit_once('.').unwrap().0;
    for (why, token) in [
        ("another audience", platform.token(|_, it| it["aud"] = json!("eclusa-other"))),
        ("lets no job of the issuer", other.token(|_, _| {})),
        ("no key `one`", other.token(|_, it| it["iss"] = json!(platform.url))),
        (
            "not what the policy lets enrol",
            platform.token(|_, it| it["repository"] = json!("evil/web")),
        ),
        ("has expired", platform.token(|_, it| it["exp"] = json!(at - 120))),
        ("only RS256 and ES256 count", platform.token(|head, _| head["alg"] = json!("none"))),
        ("only RS256 and ES256 count", platform.token(|head, _| head["alg"] = json!("HS256"))),
        ("no key `two`", platform.token(|head, _| head["kid"] = json!("two"))),
        ("no key `one`", format!("{unsigned}.AAAA")),
        ("is not a JSON Web Token", "word".to_owned()),
    ] {
        let machine = worker();
        let ran = enrol(&trail, &machine, &token);
        assert!(ran.code != 0 && ran.err.contains(why), "{why}: {ran:?}");
        assert!(
            !machine.read("config/eclusa/eclusa.toml").contains("[fleet]"),
            "nothing has changed"
        );
    }
    assert_eq!(trail.database.query("select count(*) from machines"), "0");
    assert!(*platform.fetched.lock().unwrap() <= 2, "an unknown key is looked for once a minute");
    assert_eq!(*other.fetched.lock().unwrap(), 0, "nobody else's keys are fetched");
}

#[test]
fn keys_that_the_policy_names_need_no_network() {
    let Some(trail) = Trail::new() else { return };
    let platform = Platform::new();
    let key = public(&platform.key, "one");
    let text = |name: &str| key[name].as_str().unwrap().to_owned();
    let pinned = format!(
        "[[enroll.keys]]\nkid = \"one\"\nkty = \"EC\"\ncrv = \"P-256\"\nx = \"{}\"\ny = \"{}\"\n",
        text("x"),
        text("y")
    );
    platform.push(&trail, &pinned);
    let ran = enrol(&trail, &worker(), &platform.token(|_, _| {}));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(*platform.fetched.lock().unwrap(), 0);
}

#[test]
fn what_lets_everybody_in_is_not_signed() {
    let Some(trail) = Trail::new() else { return };
    trail.fleet.world.write(
        "workspace/policy/enroll.toml",
        "[[enroll]]\nissuer = \"https://issuer.example\"\naudience = \"eclusa-acme\"\nclaims = {}\n",
    );
    let ran = trail.fleet.signed(&["push", "policy"], "--to", "policy-1");
    assert!(ran.code == 2 && ran.err.contains("lets every job of everybody in"), "{ran:?}");
    let ran = trail.fleet.world.eclusa(&["fleet", "enroll", "--oidc", &trail.server.url]);
    assert!(ran.code == 2 && ran.err.contains("which fleet is meant"), "{ran:?}");
}

/// A machine whose gate is a service of its own says so.
#[test]
fn a_key_of_a_service_is_said_to_be_one() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let Some(trail) = Trail::new() else { return };
    let machine = trail.machine();
    let says =
        |machine: &World| machine.eclusa(&["fleet", "status"]).out.contains("whom nobody works as");
    assert!(!says(&machine), "they belong to whoever calls");
    for name in ["documents.json", "machine.key"] {
        let file = machine.path(&format!("state/eclusa/fleet/{name}"));
        std::os::unix::fs::chown(file, Some(12), Some(12)).unwrap();
    }
    assert!(says(&machine));
    assert!(machine.eclusa(&["doctor"]).out.contains("whom nobody works as"));
}
