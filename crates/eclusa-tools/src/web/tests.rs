//! The web tool against the corpus, a resolver of the tests' own and a real server on loopback.

mod address;
mod agreement;
mod corpus;
mod domains;
mod pages;
mod range;
mod server;
mod tool;
mod wire;

use std::{
    collections::HashMap,
    io,
    net::IpAddr,
    sync::{Arc, Mutex},
};

use futures::future::BoxFuture;

use super::Resolver;

/// Names with successive answers: the first question gets the first, and so on; the last one
/// stays.
#[derive(Debug, Clone, Default)]
struct Names(Arc<Mutex<HashMap<String, Vec<Vec<IpAddr>>>>>);

impl Names {
    fn with(self, name: &str, answers: &[&[&str]]) -> Names {
        let answers = answers.iter().map(|ips| ips.iter().map(|ip| ip.parse().unwrap()).collect());
        let name = name.trim_end_matches('.').to_lowercase();
        self.0.lock().unwrap().insert(name, answers.collect());
        self
    }
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, name: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let mut names = self.0.lock().unwrap();
        let answer = match names.get_mut(name) {
            Some(answers) if answers.len() > 1 => Some(answers.remove(0)),
            Some(answers) => answers.first().cloned(),
            None => None,
        };
        Box::pin(async move { answer.ok_or_else(|| io::Error::other("no such name")) })
    }
}
