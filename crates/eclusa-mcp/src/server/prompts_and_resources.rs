//! Prompts and resources for a client: of the servers behind the gate, and what is kept here.

use rmcp::{
    ErrorData, RoleServer,
    model::{
        GetPromptRequestParams, GetPromptResponse, ReadResourceRequestParams, ReadResourceResponse,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::server::{
    answer,
    dispatch::{Dispatched, Request},
    handler::Server,
    own_resources,
};
use crate::uris::OWN_SCHEME;

impl Server {
    /// A prompt of a server.
    pub(crate) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let opened = self.shared.opened().await?;
        let gateway = opened.gateway.clone();
        if let Some(gateway) = &gateway {
            gateway.ready_until(|it| it.prompting(&request.name, None).is_some()).await;
        }
        let args = request.arguments.map(Value::Object);
        let call = gateway.and_then(|it| it.prompting(&request.name, args.as_ref()));
        let (tool, args) = call.ok_or_else(|| {
            let problem = format!("there is no prompt `{}`", request.name);
            ErrorData::invalid_params(problem, None)
        })?;
        let (state, answers) = (request.request_state, request.input_responses);
        let request_for_gate = Request { method: "prompts/get", tool, args, state, answers };
        match self.pass(&opened.gate, request_for_gate, context).await? {
            Dispatched::Asks(asks) => Ok(asks.into()),
            Dispatched::Waits(_) | Dispatched::Task(_) | Dispatched::Stopped => {
                Err(not_answered(&request.name))
            }
            Dispatched::Done(reply, side_results) if reply.is_error() => {
                let about = json!({"name": request.name});
                Err(answer::refusal(&reply, side_results.refused.get(), about))
            }
            Dispatched::Done(reply, _) => answer::prompt(&reply, &request.name).map(Into::into),
        }
    }

    /// What is in a resource.
    pub(crate) async fn resource(
        &self,
        request: ReadResourceRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        if uri.starts_with(OWN_SCHEME) {
            let gate = self.shared.gate().await?;
            return own_resources::read(&gate, &uri).await.map(Into::into);
        }
        let opened = self.shared.opened().await?;
        let gateway = opened.gateway.clone();
        if let Some(gateway) = &gateway {
            gateway.ready_until(|it| it.reading(&uri).is_some()).await;
        }
        let call = gateway.and_then(|it| it.reading(&uri));
        let about = json!({"uri": uri});
        let (tool, args) = call.ok_or_else(|| {
            let problem = format!("`{uri}` cannot be read: it is not a resource of this server");
            ErrorData::resource_not_found(problem, Some(about.clone()))
        })?;
        let (state, answers) = (request.request_state, request.input_responses);
        let request_for_gate = Request { method: "resources/read", tool, args, state, answers };
        match self.pass(&opened.gate, request_for_gate, context).await? {
            Dispatched::Asks(asks) => Ok(asks.into()),
            Dispatched::Waits(_) | Dispatched::Task(_) | Dispatched::Stopped => {
                Err(not_answered(&uri))
            }
            Dispatched::Done(reply, side_results) if reply.is_error() => {
                Err(answer::refusal(&reply, side_results.refused.get(), about))
            }
            Dispatched::Done(reply, _) => answer::contents(&reply, &uri).map(Into::into),
        }
    }
}

/// The call goes on, and is on record; but there is no way to come back for it.
fn not_answered(what: &str) -> ErrorData {
    let problem = format!("reading `{what}` is not approved yet; ask again later");
    ErrorData::invalid_request(problem, None)
}
