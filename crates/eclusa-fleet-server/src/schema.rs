//! The tables, how they came to be, and which fleet a database is for.

use eclusa_fleet::{DocumentBundle, FleetAnchor, Membership};
use tokio_postgres::types::Type;

use crate::{
    Database, ServerError,
    store::{acts, documents},
};

/// Each step leads from the format of its place in this list to the next.
const STEPS: [&str; 7] = [
    include_str!("schema/first.sql"),
    include_str!("schema/rollouts.sql"),
    include_str!("schema/inbox.sql"),
    include_str!("schema/page.sql"),
    include_str!("schema/notifications.sql"),
    include_str!("schema/waves.sql"),
    include_str!("schema/witnesses.sql"),
];

/// The table that says the format, and which fleet the database is for.
const FORMAT_TABLE: &str = "
create table fleet_format (
  one boolean primary key default true check (one),
  version int not null,
  name text not null default '',
  root text not null default ''
);
insert into fleet_format (version) values (0);
";

/// The oldest PostgreSQL that is tried.
const OLDEST: i32 = 150_000;

/// Makes the tables, or brings them to the format of this program. The first time it takes the documents of the fleet,
/// whose first root the database is bound to. Says the format.
pub async fn migrate(
    database: &Database,
    first: Option<DocumentBundle>,
    now: u64,
) -> Result<usize, ServerError> {
    let version = database.query("select current_setting('server_version_num')::int", &[]).await?;
    let version: i32 = version.first().map_or(0, |it| it.get(0));
    if version < OLDEST {
        return Err(ServerError::Schema(format!(
            "the database is PostgreSQL {}; use 15 or newer",
            version / 10_000
        )));
    }
    let found = format(database).await?;
    if found > STEPS.len() {
        return Err(newer(found));
    }
    let anchor = match &first {
        Some(bundle) => {
            let roots = bundle.verified_roots(None)?;
            let root = roots
                .first()
                .ok_or_else(|| ServerError::Schema("the documents hold no root".to_owned()))?;
            Some(FleetAnchor { name: root.name.clone(), root: root.digest, from: None })
        }
        None if found == 0 => {
            return Err(ServerError::Schema(
                "the database holds no fleet yet; pass `--documents FILE` with the documents that `eclusa fleet init` \
                 and `push` made"
                    .to_owned(),
            ));
        }
        None => None,
    };
    for (at, step) in STEPS.iter().enumerate().skip(found) {
        let (from, to) = (at, at + 1);
        // Of two that migrate at one moment, the later one waits, and then fails at what is there already.
        let begin = match from {
            0 => FORMAT_TABLE,
            _ => "",
        };
        let statements = format!(
            "begin; {begin} lock table fleet_format in exclusive mode;\n{step}\n\
             update fleet_format set version = {to} where version = {from}; commit;"
        );
        database.batch(&statements).await?;
    }
    if let (Some(anchor), Some(bundle)) = (anchor, first) {
        let root = anchor.root.to_string();
        let set = "update fleet_format set name = $1, root = $2 where root = '' returning 1";
        let set = database.query(set, &[(&anchor.name, Type::TEXT), (&root, Type::TEXT)]).await?;
        let bound = fleet(database).await?;
        if bound.name != anchor.name || bound.root != anchor.root {
            return Err(ServerError::Schema(format!(
                "the database is of the fleet `{}` with the root sha256:{}; use another one",
                bound.name, bound.root
            )));
        }
        if !set.is_empty() {
            let held =
                Membership::begin(bundle, None, &anchor, (now, documents::ANY_PROGRAM), |_, _| {
                    Ok(())
                })?;
            acts::note(database, "documents", documents::about(&held, None)).await?;
            documents::insert(database, now, &held).await?;
        }
    }
    crate::maintain::prepare(database).await?;
    Ok(STEPS.len())
}

/// The format of the database; 0 where there are no tables.
async fn format(database: &Database) -> Result<usize, ServerError> {
    let there = database.query("select to_regclass('fleet_format') is not null", &[]).await?;
    if !there.first().is_some_and(|it| it.get(0)) {
        return Ok(0);
    }
    let rows = database.query("select version from fleet_format", &[]).await?;
    Ok(rows.first().and_then(|it| usize::try_from(it.get::<_, i32>(0)).ok()).unwrap_or(0))
}

fn newer(found: usize) -> ServerError {
    let known = STEPS.len();
    ServerError::Schema(format!(
        "the database has format {found}, and this program knows {known}; use the program that migrated it"
    ))
}

/// An error unless the tables are those of this program, or of the next.
pub(crate) async fn check(database: &Database) -> Result<(), ServerError> {
    match format(database).await? {
        found if found == STEPS.len() || found == STEPS.len() + 1 => Ok(()),
        found if found > STEPS.len() => Err(newer(found)),
        _ => Err(ServerError::Schema(
            "the database has no tables of this program; run `eclusa fleet migrate` first"
                .to_owned(),
        )),
    }
}

/// The fleet that the database is for.
pub(crate) async fn fleet(database: &Database) -> Result<FleetAnchor, ServerError> {
    let rows = database.query("select name, root from fleet_format", &[]).await?;
    let row = rows.first().filter(|it| !it.get::<_, &str>(1).is_empty()).ok_or_else(|| {
        ServerError::Schema(
            "the database is bound to no fleet; run `eclusa fleet migrate --documents FILE`"
                .to_owned(),
        )
    })?;
    Ok(FleetAnchor { name: row.get(0), root: row.get::<_, &str>(1).parse()?, from: None })
}
