//! What a server says by the way: progress, messages, news.

use rmcp::{
    model::{
        CallToolRequest, ClientRequest, LoggingLevel, RequestMetaObject, ServerNotification,
        SetLevelRequest, SetLevelRequestParams, SubscribeRequest, SubscribeRequestParams,
        SubscriptionFilter,
    },
    service::PeerRequestOptions,
};

use super::*;

#[tokio::test]
async fn progress_comes_in_the_servers_own_numbers_from_the_first() {
    for eras in ERAS {
        let stage = Scene::new(eras).open().await;
        stage.call("mcp_fixture_test_tool_with_progress", json!({})).await;
        for so_far in ["0", "50", "100"] {
            stage.heard(&format!("progress: {so_far} of Some(100.0)")).await;
        }
    }
}

#[tokio::test]
async fn messages_are_heard_by_who_wants_to_hear_them() {
    for server in [Era::Old, Era::New] {
        let stage = Scene::new((Era::Old, server)).open().await;
        let call = async || stage.call("mcp_fixture_test_tool_with_logging", json!({})).await;
        let level = async |level| {
            let request = SetLevelRequest::new(SetLevelRequestParams::new(level));
            let request = ClientRequest::SetLevelRequest(request);
            stage.client.send_request(request).await.unwrap();
        };
        level(LoggingLevel::Error).await;
        call().await;
        level(LoggingLevel::Debug).await;
        call().await;
        stage.heard("message of fixture: \"Tool execution completed\"").await;
        let said = stage.person.said();
        let count = said.iter().filter(|it| it.starts_with("message")).count();
        assert_eq!(count, 3, "{server:?}: {said:?}");
    }
}

#[tokio::test]
async fn messages_come_with_a_request_that_asks_for_them() {
    for server in [Era::Old, Era::New] {
        let stage = Scene::new((Era::New, server)).open().await;
        let call = async |level: Option<LoggingLevel>| {
            let params = CallToolRequestParams::new("mcp_fixture_test_logging_tool");
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
            let mut meta = RequestMetaObject::new();
            if let Some(level) = level {
                meta.set_log_level(level);
            }
            let options = PeerRequestOptions::no_options().with_meta(meta);
            let sent = stage.client.send_request_with_option(request, options).await.unwrap();
            sent.await_response().await.unwrap();
        };
        call(None).await;
        call(Some(LoggingLevel::Info)).await;
        stage.heard("Tool execution completed").await;
        let said = stage.person.said();
        let count = said.iter().filter(|it| it.starts_with("message")).count();
        assert_eq!(count, 3, "{server:?}: {said:?}");
    }
}

#[tokio::test]
async fn a_server_that_may_not_log_is_not_heard() {
    let mut scene = Scene::new((Era::Old, Era::Old));
    scene.settings.may.clear();
    let stage = scene.open().await;
    stage.call("mcp_fixture_test_tool_with_logging", json!({})).await;
    stage.call("mcp_fixture_test_tool_with_progress", json!({})).await;
    stage.heard("progress: 100").await;
    assert!(!stage.person.said().iter().any(|it| it.contains("message")));
}

#[tokio::test]
async fn older_clients_hear_of_lists_and_resources_that_change() {
    for server in [Era::Old, Era::New] {
        let stage = Scene::new((Era::Old, server)).open().await;
        let request = SubscribeRequest::new(SubscribeRequestParams::new("test://watched-resource"));
        let request = ClientRequest::SubscribeRequest(request);
        stage.client.send_request(request).await.unwrap();
        for (tool, news) in [
            ("mcp_fixture_test_trigger_prompt_change", "other prompts"),
            ("mcp_fixture_test_trigger_tool_change", "other tools"),
            ("mcp_fixture_test_trigger_resource_change", "updated: test://watched-resource"),
        ] {
            // Whoever listens may have come a moment too late.
            let triggered = async {
                loop {
                    stage.call(tool, json!({})).await;
                }
            };
            tokio::select! {
                _ = stage.heard(news) => {}
                () = triggered => {}
            }
        }
    }
}

#[tokio::test]
async fn newer_clients_hear_what_they_listen_for() {
    for server in [Era::Old, Era::New] {
        let stage = Scene::new((Era::New, server)).open().await;
        let mut filter = SubscriptionFilter::default();
        filter.prompts_list_changed = Some(true);
        filter.resource_subscriptions = Some(vec!["test://watched-resource".to_owned()]);
        let mut listening = stage.client.listen(filter).await.unwrap();
        let triggered = async {
            loop {
                stage.call("mcp_fixture_test_trigger_prompt_change", json!({})).await;
                stage.call("mcp_fixture_test_trigger_resource_change", json!({})).await;
            }
        };
        let both = async {
            let (mut prompts, mut updated) = (false, false);
            while !(prompts && updated) {
                match listening.next().await.unwrap().unwrap() {
                    ServerNotification::PromptListChangedNotification(_) => prompts = true,
                    ServerNotification::ResourceUpdatedNotification(_) => updated = true,
                    other => panic!("{other:?}"),
                }
            }
        };
        tokio::select! {
            () = both => {}
            () = triggered => {}
        }
    }
}

/// A server whose only tool ends when it is taken back.
struct Slow(Arc<tokio::sync::Notify>, Arc<tokio::sync::Notify>);

impl ServerHandler for Slow {
    fn get_info(&self) -> rmcp::model::ServerConfig {
        let can = rmcp::model::ServerCapabilities::builder().enable_tools().build();
        rmcp::model::ServerConfig::new(can)
    }

    async fn list_tools(
        &self,
        _: Option<rmcp::model::PaginatedRequestParams>,
        _: RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::ListToolsResult, ErrorData> {
        let schema = json!({"type": "object"}).as_object().cloned().unwrap();
        let tool = rmcp::model::Tool::new("slow", "never ends", Arc::new(schema));
        Ok(rmcp::model::ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<rmcp::RoleServer>,
    ) -> Result<rmcp::model::CallToolResponse, ErrorData> {
        self.0.notify_one();
        context.ct.cancelled().await;
        self.1.notify_one();
        Err(ErrorData::internal_error("taken back", None))
    }
}

#[tokio::test]
async fn a_call_that_is_taken_back_is_taken_back_at_the_server() {
    for client in [Era::Old, Era::New] {
        let (began, ended) = <(Arc<tokio::sync::Notify>, Arc<tokio::sync::Notify>)>::default();
        let (begins, ends) = (began.clone(), ended.clone());
        let scene = Scene::with(client, move || Slow(begins.clone(), ends.clone()));
        let stage = scene.open().await;
        let params = CallToolRequestParams::new("mcp_fixture_slow");
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let options = PeerRequestOptions::no_options();
        let sent = stage.client.send_cancellable_request(request, options).await.unwrap();
        let minute = Duration::from_secs(60);
        tokio::time::timeout(minute, began.notified()).await.unwrap();
        sent.cancel(None).await.unwrap();
        tokio::time::timeout(minute, ended.notified()).await.unwrap();
    }
}
