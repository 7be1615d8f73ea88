//! `eclusa fleet serve --notify FILE`: who is told of what waits, from the server.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use eclusa_config::{Config, Layer, NotificationSettings};
use eclusa_fleet_server::{Database, NotificationRoute, due_announcements, note_attempt};
use toml_edit::DocumentMut;

use crate::{
    failure::Failure,
    notifications::announce,
    screen::{note, sanitize},
};

/// How often it is looked for what is due.
const LOOK: Duration = Duration::from_secs(1);

/// The receivers of a server, and of what each is told.
pub(super) struct FleetNotifier {
    database: Database,
    settings: Vec<NotificationSettings>,
    routes: Vec<NotificationRoute>,
    directory: PathBuf,
}

impl FleetNotifier {
    /// Reads the file: `[[notifications]]` as on a machine, each with a `group`, a `team`, both or neither.
    pub(super) fn open(file: &Path, database: Database) -> Result<FleetNotifier, Failure> {
        let wrong = |why: String| Failure::usage(format!("`{}`: {why}", file.display()));
        let text = fs::read_to_string(file).map_err(|err| wrong(err.to_string()))?;
        let mut document: DocumentMut =
            text.parse().map_err(|err: toml_edit::TomlError| wrong(err.to_string()))?;
        if let Some((other, _)) = document.iter().find(|it| it.0 != "notifications") {
            return Err(wrong(format!(
                "`{}` is not known here; only `[[notifications]]` is",
                other.escape_debug()
            )));
        }
        let mut chosen = Vec::new();
        let tables = document.get_mut("notifications").and_then(|it| it.as_array_of_tables_mut());
        for table in tables.into_iter().flat_map(|it| it.iter_mut()) {
            let mut taken = |name: &str| match table.remove(name) {
                None => Ok(None),
                Some(it) => it
                    .as_str()
                    .map(|it| Some(it.to_owned()))
                    .ok_or_else(|| wrong(format!("`{name}` must be a text"))),
            };
            let (group, team) = (taken("group")?, taken("team")?);
            let name = table.get("name").and_then(|it| it.as_str()).unwrap_or_default().to_owned();
            if chosen.iter().any(|it: &(String, _, _)| it.0 == name) {
                return Err(wrong(format!(
                    "there are two notifications `{}`",
                    name.escape_debug()
                )));
            }
            chosen.push((name, group, team));
        }
        let name = file.display().to_string();
        let config = Config::load(&[Layer::of_person(name, document.to_string())]);
        let settings = config.map_err(|err| wrong(err.to_string()))?.notifications;
        let routes = settings.iter().map(|it| {
            let found = chosen.iter().find(|(name, _, _)| *name == it.name);
            let (group, team) = found.map_or((None, None), |it| (it.1.clone(), it.2.clone()));
            NotificationRoute { name: it.name.clone(), group, team, after: it.after }
        });
        let routes = routes.collect();
        let directory = std::env::current_dir().map_err(Failure::failed)?;
        Ok(FleetNotifier { database, settings, routes, directory })
    }

    /// Sends what is due, for as long as the server runs. What cannot be sent is tried again, by whichever instance.
    pub(super) async fn keep_sending(&self, page: &str) {
        let (mut first, mut away) = (true, false);
        loop {
            match self.send_due(page, first).await {
                Ok(()) => (first, away) = (false, false),
                Err(why) if !away => {
                    note(&sanitize(&format!("notifications are not sent: {why}")));
                    away = true;
                }
                Err(_) => {}
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    async fn send_due(&self, page: &str, first: bool) -> Result<(), String> {
        let told: Vec<String> =
            self.settings.iter().filter(|it| it.show_args).map(|it| it.name.clone()).collect();
        let due = due_announcements(&self.database, &self.routes, (page, &told), first).await;
        for it in due.map_err(|err| err.to_string())? {
            let Some(settings) = self.settings.iter().find(|known| known.name == it.target) else {
                continue;
            };
            let sent = announce(settings, &self.directory, &it.told).await;
            note_attempt(&self.database, it.id, sent).await.map_err(|err| err.to_string())?;
        }
        Ok(())
    }
}
