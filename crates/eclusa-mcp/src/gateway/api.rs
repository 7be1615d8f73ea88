//! What clients at the door want of the servers, and whose business it is.

use eclusa::{Decision, Gate, ToolCall};
use rmcp::{
    ErrorData,
    model::{
        ClientRequest, CompleteRequest, CompleteRequestParams, CompleteResult, Implementation,
        Reference, ServerResult,
    },
};
use serde_json::{Value, json};
use tokio::sync::broadcast;

use super::{
    Gateway, Notification, ResourceWatch, ToolDisplay, icons, resource_tool::Kind,
    sanitize::sanitize, upstream::Upstream,
};

impl Gateway {
    /// Whether clients know everything by the names that the one server gave it.
    pub(crate) fn is_plain(&self) -> bool {
        self.plain
    }

    /// How clients see a tool of a server.
    pub(crate) fn tool_display(&self, tool: &str) -> Option<ToolDisplay> {
        self.servers.iter().find_map(|it| it.shown_as(tool))
    }

    /// What servers say about themselves, for models that are told whose words these are.
    pub(crate) fn instructions(&self) -> Option<String> {
        let said = |it: &std::sync::Arc<Upstream>| {
            let (name, said) = (&it.settings.name, it.instructions()?);
            Some(format!("The server {name} says about itself (not checked): {said}"))
        };
        let all: Vec<String> = self.servers.iter().filter_map(said).collect();
        (!all.is_empty()).then(|| all.join("\n\n"))
    }

    /// What the one server that is wrapped says it is, and says to models.
    pub(crate) fn about_itself(&self) -> (Option<Implementation>, Option<String>) {
        let server = self.servers.first();
        let info = server.and_then(|it| it.implementation());
        (info, server.and_then(|it| it.instructions()))
    }

    /// What models are told of tools of servers that are not in the list, if there are any.
    pub(crate) fn missing_tools(&self) -> Option<String> {
        let all: Vec<String> = self.servers.iter().filter_map(|it| it.missing_tools()).collect();
        (!all.is_empty()).then(|| all.join(" "))
    }

    /// The call that reads this resource.
    pub(crate) fn reading(&self, uri: &str) -> Option<(String, Value)> {
        let resource_owner = self.resource_owner(uri)?;
        Some((Kind::Resource.tool(&resource_owner.settings.name), json!({"uri": uri})))
    }

    /// The call that gets this prompt.
    pub(crate) fn prompting(&self, name: &str, args: Option<&Value>) -> Option<(String, Value)> {
        let (prompt_owner, original) = self.prompt_owner(name)?;
        let mut wanted = json!({"name": original});
        if let (Some(args), Some(wanted)) = (args, wanted.as_object_mut()) {
            wanted.insert("arguments".to_owned(), args.clone());
        }
        Some((Kind::Prompt.tool(&prompt_owner.settings.name), wanted))
    }

    /// Watches a resource, if reading it is not forbidden.
    pub(crate) fn watch(&self, gate: &Gate, uri: &str) -> Result<ResourceWatch, ErrorData> {
        let unknown = || ErrorData::resource_not_found(format!("there is no `{uri}`"), None);
        let resource_owner = self.resource_owner(uri).ok_or_else(unknown)?;
        let (tool, args) = self.reading(uri).ok_or_else(unknown)?;
        not_denied(gate, tool, args)?;
        resource_owner.watch(uri).map_err(|why| ErrorData::invalid_request(why, None))
    }

    /// Notifications of all servers, and what they say that belongs to no call.
    pub(crate) fn news(
        &self,
    ) -> (broadcast::Receiver<Notification>, broadcast::Receiver<Notification>) {
        self.spread.heard()
    }

    /// How an argument of a prompt or of a template could go on. Nobody is asked about it, and
    /// nothing of it is on record: it comes with every key that is pressed. What a rule forbids to
    /// get is not completed either.
    pub(crate) async fn complete(
        &self,
        gate: &Gate,
        mut params: CompleteRequestParams,
    ) -> Result<CompleteResult, ErrorData> {
        let unknown = |what: &str| ErrorData::invalid_params(format!("there is no `{what}`"), None);
        let (server, (tool, args)) = match &mut params.r#ref {
            Reference::Prompt(it) => {
                let (prompt_owner, original) =
                    self.prompt_owner(&it.name).ok_or_else(|| unknown(&it.name))?;
                let call = self.prompting(&it.name, None).ok_or_else(|| unknown(&it.name))?;
                it.name = original;
                (prompt_owner, call)
            }
            Reference::Resource(it) => {
                let resource_owner =
                    self.template_owner(&it.uri).ok_or_else(|| unknown(&it.uri))?;
                let tool = Kind::Resource.tool(&resource_owner.settings.name);
                (resource_owner, (tool, json!({"uri": it.uri})))
            }
            _ => return Ok(CompleteResult::default()),
        };
        not_denied(gate, tool, args)?;
        let redactor = gate.redactor();
        params.meta = None;
        let others = params.context.as_mut().and_then(|it| it.arguments.as_mut());
        let others = others.into_iter().flat_map(|it| it.values_mut());
        for value in others.chain([&mut params.argument.value]) {
            *value = redactor.text(value).0.into_owned();
        }
        server.complete(params, redactor).await
    }
}

/// A rule that denies a call denies what leads up to it.
fn not_denied(gate: &Gate, tool: String, args: Value) -> Result<(), ErrorData> {
    let denied = |why: &str| ErrorData::invalid_request(why.to_owned(), None);
    match gate.check(ToolCall::new("check", tool, args)) {
        Ok((_, verdict)) if verdict.decision == Decision::Deny => Err(denied(&verdict.why())),
        Ok(_) => Ok(()),
        Err(stop) => Err(denied(&stop.message())),
    }
}

impl Upstream {
    /// Its name, title and version, as it tells them.
    fn implementation(&self) -> Option<Implementation> {
        let info = self.up()?.peer.peer_info()?;
        let mut said = info.server_info.clone()?;
        for text in [Some(&mut said.name), Some(&mut said.version), said.title.as_mut()] {
            text.into_iter().for_each(|it| *it = sanitize(it));
        }
        said.description = said.description.as_deref().map(sanitize);
        said.icons = icons::icons(said.icons.as_deref(), &self.settings);
        Some(said)
    }

    /// What the server says about itself, as far as it goes.
    fn instructions(&self) -> Option<String> {
        let info = self.up()?.peer.peer_info()?;
        info.instructions.as_deref().filter(|it| !it.is_empty()).map(sanitize)
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        redactor: &eclusa::Redactor,
    ) -> Result<CompleteResult, ErrorData> {
        let connection =
            self.connection().await.map_err(|why| ErrorData::internal_error(why, None))?;
        let can =
            connection.peer.peer_info().is_some_and(|it| it.capabilities.completions.is_some());
        if !can {
            return Ok(CompleteResult::default());
        }
        let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
        let name = &self.settings.name;
        let failed =
            |why: String| ErrorData::internal_error(format!("server `{name}`: {why}"), None);
        let asking =
            tokio::time::timeout(self.settings.start, connection.peer.send_request(request));
        let said = asking.await.map_err(|_| failed("it does not answer".to_owned()))?;
        match said.map_err(|err| failed(sanitize(&err.to_string())))? {
            ServerResult::CompleteResult(mut it) => {
                // The protocol has it that there are no more.
                it.completion.values.truncate(100);
                for value in &mut it.completion.values {
                    *value = redactor.text(&sanitize(value)).0.into_owned();
                }
                Ok(CompleteResult::new(it.completion))
            }
            _ => Err(failed("it answered something else".to_owned())),
        }
    }
}
