//! `eclusa models add`: a model in the person's configuration, chosen from what its server has.

use std::time::Duration;

use clap::Args;
use eclusa::Wire;
use eclusa_models::{default_url, headers};
use eclusa_net::http_client;
use reqwest::{Url, redirect};
use serde_json::Value;
use toml_edit::{DocumentMut, InlineTable, Item, Table, value};

use crate::ui::{
    context::AppContext,
    failure::{Exit, Failure},
    reviewers::service::chain,
    screen::{Screen, sanitize},
    servers::config_edit,
};

/// Examples, for its help.
pub const EXAMPLES: &str = "\
Examples:
  eclusa models add anthropic                   list its models
  eclusa models add anthropic --model NAME --name pro
  eclusa models add http://localhost:8080 --model NAME --name local

No key is stored: the configuration names its variable.";

/// A model to be added.
#[derive(Debug, Args)]
pub struct AddModelArgs {
    /// `anthropic`, `openai`, `gemini`, or the address of a server that speaks OpenAI Chat
    pub server: String,
    /// The model's name at the server
    #[arg(long, value_name = "MODEL")]
    pub model: Option<String>,
    /// Your name for it [default: main]
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,
    /// The variable that holds the key [default: the provider's usual one]
    #[arg(long, value_name = "VARIABLE")]
    pub key_env: Option<String>,
}

/// So long a server may take to say which models it has.
const MAX_TIME: Duration = Duration::from_secs(30);

/// What it says is no longer than this.
const MAX_ANSWER: usize = 4 << 20;

/// How a server is spoken to.
struct ModelServer {
    wire: Wire,
    url: String,
    /// Whether the address must be written down.
    own_url: bool,
    /// The variable that holds the key.
    key: Option<String>,
}

impl ModelServer {
    fn find(args: &AddModelArgs) -> Result<ModelServer, Failure> {
        let provider = |wire: Wire, key: &str| ModelServer {
            wire,
            url: default_url(wire).to_owned(),
            own_url: false,
            key: Some(args.key_env.clone().unwrap_or_else(|| key.to_owned())),
        };
        Ok(match args.server.as_str() {
            "anthropic" => provider(Wire::Anthropic, "ANTHROPIC_API_KEY"),
            "openai" => provider(Wire::Openai, "OPENAI_API_KEY"),
            "gemini" => provider(Wire::Gemini, "GEMINI_API_KEY"),
            url if url.starts_with("http://") || url.starts_with("https://") => ModelServer {
                wire: Wire::OpenaiChat,
                url: url.trim_end_matches('/').trim_end_matches("/v1").to_owned(),
                own_url: true,
                key: args.key_env.clone(),
            },
            other => {
                let text = format!("`{}` is not a server of models", sanitize(other));
                return Err(Failure::usage(text).hint(
                    "write anthropic, openai, gemini, or an address such as http://localhost:8080",
                ));
            }
        })
    }

    /// Which models it has.
    async fn models(&self) -> Result<Vec<String>, String> {
        let path = if self.wire == Wire::Gemini { "/v1beta/models" } else { "/v1/models" };
        let url: Url = format!("{}{path}", self.url).parse().map_err(|err| format!("{err}"))?;
        let local =
            ["localhost", "127.0.0.1", "[::1]"].contains(&url.host_str().unwrap_or_default());
        if url.scheme() != "https" && !local {
            return Err("http is for servers on this machine; use https".to_owned());
        }
        let client = http_client().redirect(redirect::Policy::none()).no_proxy().timeout(MAX_TIME);
        let client = client.build().map_err(|err| err.to_string())?;
        let mut request = client.get(url);
        if let Some(name) = &self.key {
            let key = std::env::var(name)
                .map_err(|_| format!("the variable `{name}` for the key is not set"))?;
            for (name, value) in headers(self.wire, Some(&key)) {
                request = request.header(name, value);
            }
        }
        let mut response = request.send().await.map_err(|err| chain(&err.without_url()))?;
        if !response.status().is_success() {
            return Err(format!("it answered {}", response.status()));
        }
        let mut body = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|err| err.to_string())? {
            body.extend_from_slice(&chunk);
            if body.len() > MAX_ANSWER {
                return Err("its answer is longer than 4 MB".to_owned());
            }
        }
        let answer: Value =
            serde_json::from_slice(&body).map_err(|_| "its answer is not JSON".to_owned())?;
        let all = answer.get("data").or_else(|| answer.get("models"));
        let name = |it: &Value| {
            let name = it.get("id").or_else(|| it.get("name"))?.as_str()?;
            Some(name.trim_start_matches("models/").to_owned())
        };
        let names = all.and_then(Value::as_array).into_iter().flatten().filter_map(name);
        Ok(names.collect())
    }

    /// The settings of one of its models.
    fn table(&self, model: &str) -> Table {
        let mut table = Table::new();
        table.insert("wire", value(self.wire.as_str()));
        table.insert("model", value(model));
        if self.own_url {
            table.insert("url", value(self.url.as_str()));
        }
        if let Some(name) = &self.key {
            let mut key = InlineTable::new();
            key.insert("env", name.as_str().into());
            table.insert("key", value(key));
        }
        table
    }
}

pub(super) async fn run(ctx: &AppContext, args: AddModelArgs) -> Result<Exit, Failure> {
    let server = ModelServer::find(&args)?;
    let mut screen = Screen::stdout();
    let Some(model) = &args.model else {
        let models = server.models().await.map_err(|what| {
            Failure::failed(format!("`{}` does not say which models it has: {what}", server.url))
                .hint("name one yourself: `--model NAME`")
        })?;
        for name in &models {
            screen.line(&sanitize(name))?;
        }
        screen.flush()?;
        return Err(Failure::usage("no model chosen").hint(format!(
            "choose one with `eclusa models add {} --model NAME`",
            sanitize(&args.server)
        )));
    };
    let name = args.name.as_deref().unwrap_or("main");
    let file = ctx.paths.config.as_deref().ok_or_else(|| {
        Failure::usage("there is no place for your configuration").hint("set HOME, or use --config")
    })?;
    if ctx.config.models.iter().any(|it| it.name == name) {
        return Err(Failure::usage(format!("there is a model `{name}` already"))
            .hint("`--name OTHER` adds it under another name"));
    }
    config_edit::change(file, |document| insert(document, name, server.table(model)))?;
    screen.line(&format!(
        "added `[models.{name}]` to {}; `eclusa models test {name}` tries it",
        file.display()
    ))?;
    screen.flush()?;
    Ok(Exit::Done)
}

fn insert(document: &mut DocumentMut, name: &str, model: Table) -> Result<(), Failure> {
    let all = document.entry("models").or_insert_with(|| {
        let mut table = Table::new();
        table.set_implicit(true);
        Item::Table(table)
    });
    let all = all
        .as_table_like_mut()
        .ok_or_else(|| Failure::usage("`models` in it is not a table, so none can be added"))?;
    all.insert(name, Item::Table(model));
    Ok(())
}
