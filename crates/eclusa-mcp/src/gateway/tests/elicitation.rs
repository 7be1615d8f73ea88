//! What a server asks while it works: of the client that made the call, in the client's era.

use super::*;

#[tokio::test]
async fn elicitation_reaches_the_client_and_says_whose_it_is() {
    for eras in ERAS {
        let stage = Scene::new(eras).open().await;
        let tool = &theirs("test_input_required_result_elicitation");
        let said = text(&stage.call(tool, json!({})).await);
        assert!(said.contains("Alice"), "{eras:?}: {said}");
        assert_eq!(stage.person.asked(), ["asked: fixture asks: What is your name?"], "{eras:?}");
    }
}

#[tokio::test]
async fn rounds_of_questions_are_all_put() {
    for eras in ERAS {
        let stage = Scene::new(eras).open().await;
        let said = stage.call(&theirs("test_input_required_result_multi_round"), json!({})).await;
        assert_eq!(text(&said), "Both answered.", "{eras:?}");
        assert_eq!(stage.person.asked().len(), 2, "{eras:?}");
    }
}

#[tokio::test]
async fn several_questions_at_once_are_all_put() {
    for eras in ERAS {
        let scene = Scene::new(eras).may(ServerPermission::Sampling).may(ServerPermission::Roots);
        let stage = scene.open().await;
        let tool = &theirs("test_input_required_result_multiple_inputs");
        let said = text(&stage.call(tool, json!({})).await);
        for word in ["Alice", "Paris", "file:///here"] {
            assert!(said.contains(word), "{eras:?}: {said}");
        }
    }
}

#[tokio::test]
async fn sampling_and_roots_are_refused_unless_the_server_may() {
    let cases = [
        (&theirs("test_input_required_result_sampling"), ServerPermission::Sampling, "Paris"),
        (&theirs("test_input_required_result_list_roots"), ServerPermission::Roots, "file:///here"),
    ];
    for eras in ERAS {
        for (tool, ask, answer) in cases {
            let stage = Scene::new(eras).open().await;
            let result = stage.call(tool, json!({})).await;
            assert_eq!(result.is_error, Some(true), "{eras:?}: {result:?}");
            assert_eq!(stage.person.asked(), Vec::<String>::new(), "{eras:?}");
            let stage = Scene::new(eras).may(ask).open().await;
            let said = text(&stage.call(tool, json!({})).await);
            assert!(said.contains(answer), "{eras:?}: {said}");
            let asked = stage.person.asked().remove(0);
            let named = asked.starts_with("sampled: The MCP server `fixture` asks for this: ");
            assert!(named || ask == ServerPermission::Roots, "{eras:?}: {asked}");
        }
    }
}

#[tokio::test]
async fn a_client_is_asked_nothing_that_it_did_not_declare() {
    for eras in ERAS {
        let mut scene = Scene::new(eras).may(ServerPermission::Sampling);
        scene.can = json!({"sampling": {}});
        let stage = scene.open().await;
        let tool = &theirs("test_input_required_result_elicitation");
        let result = stage.call(tool, json!({})).await;
        assert_eq!(result.is_error, Some(true), "{eras:?}: {result:?}");
        assert_eq!(stage.person.asked(), Vec::<String>::new(), "{eras:?}");
    }
}

#[tokio::test]
async fn a_server_of_the_newer_era_knows_what_the_client_declared() {
    let mut scene = Scene::new((Era::New, Era::New)).may(ServerPermission::Sampling);
    scene.can = json!({"sampling": {}});
    let stage = scene.open().await;
    let tool = &theirs("test_input_required_result_capabilities");
    let said = text(&stage.call(tool, json!({})).await);
    assert!(said.contains("Paris") && !said.contains("Alice"), "{said}");
    // And not what the server may not use.
    let stage = Scene::new((Era::New, Era::New)).open().await;
    let refused = stage.try_call("mcp_fixture_test_missing_capability", json!({})).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("-32021"), "{refused}");
}

#[tokio::test]
async fn secrets_in_an_answer_do_not_reach_the_server() {
    for eras in ERAS {
        let stage = Scene::new(eras).may(ServerPermission::Sampling).open().await;
        // The fixture says back what it was answered, and the client says back what it was asked.
        let token = format!("ghp_{}", "a1B2c3D4e5F6".repeat(3));
        let args = json!({"prompt": format!("the token is {token}")});
        let said = text(&stage.call("mcp_fixture_test_sampling", args).await);
        let asked = stage.person.asked().join(" ");
        assert!(said.contains("Paris") && !asked.contains(&token), "{eras:?}: {asked}");
    }
}

#[tokio::test]
async fn a_prompt_can_ask_too() {
    for client in [Era::Old, Era::New] {
        for server in [Era::Old, Era::New] {
            let stage = Scene::new((client, server)).open().await;
            let name = "mcp_fixture_test_input_required_result_prompt";
            let params = rmcp::model::GetPromptRequestParams::new(name);
            let prompt = stage.client.get_prompt(params).await.unwrap();
            let said = serde_json::to_string(&prompt.messages).unwrap();
            assert!(said.contains("Alice"), "{client:?} {server:?}: {said}");
        }
    }
}

#[tokio::test]
async fn a_person_is_asked_about_the_call_and_then_by_the_server() {
    for eras in ERAS {
        let mut scene = Scene::new(eras);
        (scene.rules, scene.asks) = (Vec::new(), true);
        let stage = scene.open().await;
        let tool = theirs("test_input_required_result_elicitation");
        let said = text(&stage.call(&tool, json!({})).await);
        assert!(said.contains("Alice"), "{eras:?}: {said}");
        let asked = stage.person.asked();
        assert_eq!(asked.len(), 2, "{eras:?}: {asked:?}");
        assert!(asked[0].contains(&tool), "{eras:?}: {asked:?}");
        assert_eq!(asked[1], "asked: fixture asks: What is your name?", "{eras:?}");
    }
}

/// Speaks both eras, and asks with requests of its own in either: the newer has no way for them.
struct AsksBySending;

impl ServerHandler for AsksBySending {
    fn get_info(&self) -> rmcp::model::ServerConfig {
        rmcp::model::ServerConfig::new(
            rmcp::model::ServerCapabilities::builder().enable_tools().build(),
        )
    }

    async fn list_tools(
        &self,
        _: Option<rmcp::model::PaginatedRequestParams>,
        _: RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::ListToolsResult, ErrorData> {
        let schema = json!({"type": "object"}).as_object().unwrap().clone();
        let tool = rmcp::model::Tool::new("ask", "asks", Arc::new(schema));
        Ok(rmcp::model::ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::CallToolResponse, ErrorData> {
        let params = json!({"mode": "form", "message": "Who?", "requestedSchema":
            {"type": "object", "properties": {"name": {"type": "string"}}}});
        let asked = rmcp::model::ElicitRequest::new(serde_json::from_value(params).unwrap());
        let said =
            context.peer.send_request(rmcp::model::ServerRequest::ElicitRequest(asked)).await;
        let said = said.map_err(|err| ErrorData::internal_error(err.to_string(), None))?;
        let rmcp::model::ClientResult::ElicitResult(said) = said else { panic!("{said:?}") };
        let text = said.content.unwrap_or_default().to_string();
        Ok(CallToolResult::success(vec![rmcp::model::ContentBlock::text(text)]).into())
    }
}

/// The era towards a server that speaks both follows the client that first calls it.
#[tokio::test]
async fn a_server_that_asks_with_requests_can_ask_a_client_of_the_older_era() {
    let stage = Scene::with(Era::Old, || AsksBySending).open().await;
    let said = stage.call(&theirs("ask"), json!({})).await;
    assert!(text(&said).contains("Alice"), "{said:?}");
    assert_eq!(stage.condition().starts, 2);
    // It is settled once.
    let said = stage.call(&theirs("ask"), json!({})).await;
    assert!(text(&said).contains("Alice"), "{said:?}");
    assert_eq!(stage.condition().starts, 2);
    // A client that cannot be asked has no use for it.
    let mut scene = Scene::with(Era::Old, || AsksBySending);
    scene.can = json!({});
    let stage = scene.open().await;
    assert_eq!(stage.call(&theirs("ask"), json!({})).await.is_error, Some(true));
    assert_eq!(stage.condition().starts, 1);
}

/// In the newer era the fixture seals a state into its question, and says so; the older era has none.
const SEALS: &str = "test_input_required_result_request_state";

#[tokio::test]
async fn clients_of_both_eras_share_a_server_that_speaks_both() {
    for (first, second) in [(Era::Old, Era::New), (Era::New, Era::Old)] {
        let scene = Scene::new((first, Era::New));
        let one = scene.open().await;
        let other = scene.join(&one, second).await;
        let check = async |stage: &Stage, era: Era| {
            let said = text(&stage.call(&theirs(SEALS), json!({})).await);
            assert!(said.contains("\"ok\":true"), "{first:?} first, {era:?}: {said}");
            assert_eq!(said.contains("state-ok"), era == Era::New, "{first:?} first: {said}");
        };
        check(&one, first).await;
        check(&other, second).await;
        check(&one, first).await;
        // A client that cannot be asked is served by either.
        let starts = one.condition().starts;
        assert_eq!(starts, if first == Era::Old { 3 } else { 2 });
        let mut mute = Scene::new((Era::Old, Era::New));
        mute.can = json!({});
        let third = mute.join(&one, Era::Old).await;
        assert!(!third.call(&theirs("test_simple_text"), json!({})).await.is_error.unwrap());
        assert_eq!(one.condition().starts, starts);
        one.gateway.close().await;
    }
}

/// Each connection has its own state here, as two processes have.
#[tokio::test]
async fn a_second_connection_tells_of_changed_lists() {
    let server = || fixture::Fixture::new(Arc::new(fixture::State::new(false)));
    let scene = Scene::with(Era::New, server);
    let newer = scene.open().await;
    newer.call(&theirs(SEALS), json!({})).await;
    let older = scene.join(&newer, Era::Old).await;
    let tools = older.client.list_all_tools().await.unwrap().len();
    older.call(&theirs("test_trigger_tool_change"), json!({})).await;
    older.heard("other tools").await;
    assert_ne!(older.client.list_all_tools().await.unwrap().len(), tools);
}

/// Speaks the newer era alone.
struct NewerOnly(fixture::Fixture);

impl ServerHandler for NewerOnly {
    fn get_info(&self) -> rmcp::model::ServerConfig {
        self.0.get_info()
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        vec![ProtocolVersion::V_2026_07_28].into()
    }

    async fn list_tools(
        &self,
        params: Option<rmcp::model::PaginatedRequestParams>,
        context: RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::ListToolsResult, ErrorData> {
        self.0.list_tools(params, context).await
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        context: RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::CallToolResponse, ErrorData> {
        self.0.call_tool(params, context).await
    }
}

/// The older era is tried once at a server that does not say that it speaks it.
#[tokio::test]
async fn a_server_of_the_newer_era_alone_serves_clients_of_the_older_one() {
    let server = || NewerOnly(fixture::Fixture::new(Arc::new(fixture::State::new(false))));
    let stage = Scene::with(Era::Old, server).open().await;
    for _ in 0..3 {
        let said = stage.call(&theirs("test_simple_text"), json!({})).await;
        assert_eq!(said.is_error, Some(false), "{said:?}");
        let said = stage.call(&theirs("test_input_required_result_elicitation"), json!({})).await;
        assert!(text(&said).contains("Alice"), "{said:?}");
    }
    assert_eq!(stage.condition().starts, 2);
}
