//! Why the server cannot do something, in one sentence each.

use eclusa_fleet::FleetError;

/// Why the server cannot do something.
#[derive(Debug, thiserror::Error)]
pub enum ServerError {
    /// The address of the database cannot be used.
    #[error("{0}")]
    Address(String),
    /// The database is away or refuses.
    #[error("the database does not answer: {0}")]
    Database(String),
    /// The database is not what it should be.
    #[error("{0}")]
    Schema(String),
    /// A document or a request is refused.
    #[error(transparent)]
    Fleet(#[from] FleetError),
    /// The listener fails.
    #[error("cannot serve: {0}")]
    Listen(#[from] std::io::Error),
}

impl From<tokio_postgres::Error> for ServerError {
    fn from(err: tokio_postgres::Error) -> ServerError {
        ServerError::Database(match err.as_db_error() {
            Some(said) => said.message().to_owned(),
            None => {
                let cause = std::error::Error::source(&err);
                cause.map_or_else(|| err.to_string(), |it| format!("{err}: {it}"))
            }
        })
    }
}
