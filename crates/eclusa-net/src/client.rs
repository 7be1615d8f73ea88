//! The client with which everybody here speaks HTTP, so that all use one library for encryption.

use reqwest::{Client, ClientBuilder};
use rustls::crypto::{CryptoProvider, ring};

/// Chooses the library for encryption, for clients that others make. Whoever embeds this crate may
/// have chosen another one before (`rustls::crypto::CryptoProvider`); then that stays.
pub fn choose_encryption() {
    if CryptoProvider::get_default().is_none() {
        // The only error is that somebody else has just done it.
        drop(ring::default_provider().install_default());
    }
}

/// A client to be furnished.
pub fn http_client() -> ClientBuilder {
    choose_encryption();
    #[expect(clippy::disallowed_methods, reason = "the one place that makes clients")]
    Client::builder()
}
