//! Keys that people made with an invite. None of them counts before it is in the signed people document.

use eclusa_approvals::{KeyKind, PersonKey};
use eclusa_fleet::{Digest, Invite};
use tokio_postgres::types::Type;

use super::questions::back;
use crate::{Database, ServerError};

/// A key that waits to be signed into the people document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PendingKey {
    /// The digest of its public part, which its owner was shown.
    pub digest: String,
    /// The name in the invite.
    pub person: String,
    /// `passkey` or `browser`.
    pub kind: String,
    /// The public part, in base64.
    pub public: String,
    /// What the authenticator calls it.
    pub credential: Option<String>,
    /// The page that a passkey is bound to.
    pub origin: Option<String>,
    /// When it was made, in milliseconds since 1970.
    pub at: u64,
}

/// Keeps a key, while the invite may still be used. The same key again changes nothing.
pub(crate) async fn keep(
    database: &Database,
    (invite, person): (&Invite, &str),
    key: &PersonKey,
) -> Result<bool, ServerError> {
    let sql = "
with known as (select from pending_keys where id = $1),
new as (
  insert into pending_keys (id, invite, person, kind, public, credential, origin)
  select $1, $2, $3, $4, $5, $6, $7
  where not exists (select from known) and (select count(*) from pending_keys where invite = $2) < $8
  on conflict do nothing returning 1)
select (select count(*) from known) + (select count(*) from new)";
    let digest = Digest::compute(key.public.as_bytes()).to_string();
    let (kind, uses) = (key.kind.as_str(), i64::from(invite.uses));
    let values: [crate::database::Parameter<'_>; 8] = [
        (&digest, Type::TEXT),
        (&invite.id, Type::TEXT),
        (&person, Type::TEXT),
        (&kind, Type::TEXT),
        (&key.public, Type::TEXT),
        (&key.credential, Type::TEXT),
        (&key.origin, Type::TEXT),
        (&uses, Type::INT8),
    ];
    let rows = database.query(sql, &values).await?;
    Ok(rows.first().is_some_and(|it| it.get::<_, i64>(0) > 0))
}

/// All that were made within the last thirty days, newest first.
pub async fn pending_keys(database: &Database) -> Result<Vec<PendingKey>, ServerError> {
    let sql = "
select id, person, kind, public, credential, origin, (extract(epoch from at) * 1000)::bigint from pending_keys
where at > now() - interval '30 days' order by at desc limit 1000";
    let rows = database.query(sql, &[]).await?;
    Ok(rows
        .iter()
        .map(|it| PendingKey {
            digest: it.get(0),
            person: it.get(1),
            kind: it.get(2),
            public: it.get(3),
            credential: it.get(4),
            origin: it.get(5),
            at: back(it.get(6)),
        })
        .collect())
}

impl PendingKey {
    /// The key as the list of people holds it, if it is what it says: whoever owns the database could have changed it.
    pub fn key(&self) -> Option<PersonKey> {
        let kind = match self.kind.as_str() {
            "passkey" => KeyKind::Passkey,
            "browser" => KeyKind::Browser,
            _ => return None,
        };
        let new =
            PersonKey::new(kind, self.public.clone(), "page of the fleet".to_owned(), self.at);
        let (credential, origin) = (self.credential.clone(), self.origin.clone());
        let is_bound = credential.is_some() && origin.is_some();
        let same = Digest::compute(self.public.as_bytes()).to_string() == self.digest;
        let usable = new.is_well_formed() && same && (kind == KeyKind::Browser || is_bound);
        usable.then_some(PersonKey { credential, origin, ..new })
    }
}
