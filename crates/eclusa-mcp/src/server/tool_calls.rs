//! A call of a tool: what it is about, and what its client is told of its end.

use eclusa::{Gate, Reply, Stop};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, CreateTaskResult, ErrorCode},
    service::RequestContext,
};
use serde_json::Value;

use crate::{
    client::SideResults,
    era::Era,
    server::{
        answer,
        dispatch::{Dispatched, Request},
        handler::Server,
        own_resources, server_tools,
        startup::StartedGate,
    },
};

impl Server {
    /// Passes a call through the gate.
    pub(super) async fn tool_call(
        &self,
        mut request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let StartedGate { gate, gateway } = self.shared.opened().await?;
        // A server that is wrapped may have tools of these names.
        let wrapped = gateway.as_ref().is_some_and(|it| it.is_plain());
        if request.name == server_tools::CALL_TOOL && !wrapped {
            let (name, args) = server_tools::meant_call(request.arguments)?;
            (request.name, request.arguments) = (name.into(), Some(args));
        }
        if request.name == server_tools::APPROVE
            && !wrapped
            && let Some((tool, input)) = server_tools::own_call(request.arguments.as_ref())
        {
            if let Some(gateway) = gateway.as_ref().filter(|_| !gate.registry().has(&tool)) {
                gateway.ready_for(&tool).await;
            }
            if gate.registry().has(&tool) || server_tools::is_own(&tool) {
                return Ok(server_tools::let_on(input).into());
            }
        }
        let gateway = gateway.filter(|_| !gate.registry().has(&request.name));
        if let Some(gateway) = &gateway {
            // It may be a tool of a server that still starts.
            gateway.ready_for(&request.name).await;
        }
        let request_for_gate = Request {
            method: "tools/call",
            tool: request.name.into_owned(),
            args: Value::Object(request.arguments.unwrap_or_default()),
            state: request.request_state,
            answers: request.input_responses,
        };
        let (reply, side_results) = match self.pass(&gate, request_for_gate, context).await? {
            Dispatched::Asks(asks) => return Ok(asks.into()),
            Dispatched::Task(task) => return Ok(CreateTaskResult::new(task).into()),
            Dispatched::Waits(id) => return Ok(answer::still_waiting(&id).into()),
            Dispatched::Stopped => return Ok(answer::turn_ended().into()),
            Dispatched::Done(reply, side_results) => (reply, side_results),
        };
        Ok(self.result_of(&gate, &reply, &side_results, context).await?.into())
    }

    /// The reply of a call as its result.
    pub(super) async fn result_of(
        &self,
        gate: &Gate,
        reply: &Reply,
        side_results: &SideResults,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let refused = side_results.refused.get().filter(|it| {
            it.code == ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY
                && Era::of_request(context) == Era::Stateless
        });
        match (reply.stop(), refused) {
            (Some(Stop::UnknownTool { .. }), _) => {
                Err(ErrorData::invalid_params(reply.content().into_owned(), None))
            }
            // The client can fix this, and a model cannot.
            (_, Some(refused)) => Err(answer::refusal(reply, Some(refused), Value::Null)),
            _ if reply.tool() == server_tools::APPROVE => {
                Ok(server_tools::approval(reply, side_results.permitted.get().cloned()))
            }
            _ => {
                let mut result = answer::result(reply, gate.registry());
                if reply.content().trim().is_empty() {
                    let text = own_resources::silent(gate, reply).await;
                    answer::set_remark(&mut result, text);
                }
                if context.client_info().is_some_and(|it| answer::reads_texts_as_json(&it.name)) {
                    answer::state_structure(&mut result);
                }
                Ok(result)
            }
        }
    }
}
