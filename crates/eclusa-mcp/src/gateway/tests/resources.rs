//! Resources, prompts and completion of a server, through the gate.

use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams};

use super::*;

#[tokio::test]
async fn resources_are_listed_and_read_in_every_pair_of_eras() {
    for eras in ERAS {
        let stage = Scene::new(eras).open().await;
        let resources = stage.client.list_all_resources().await.unwrap();
        assert!(resources.iter().any(|it| it.uri == "test://static-text"), "{eras:?}");
        let templates = stage.client.list_all_resource_templates().await.unwrap();
        assert!(templates.iter().any(|it| it.uri_template == "test://template/{id}/data"));
        for (uri, inside) in [
            ("test://static-text", "This is the content of the static text resource."),
            ("test://static-binary", "iVBORw0KGgo"),
            ("test://template/123/data", "Data for ID: 123"),
        ] {
            let read = stage.client.read_resource(ReadResourceRequestParams::new(uri)).await;
            let read = serde_json::to_string(&read.unwrap().contents).unwrap();
            assert!(read.contains(inside) && read.contains(uri), "{eras:?}: {read}");
        }
        // Each is a call, and on record.
        assert_eq!(stage.log.records().len(), 2 * 3, "{eras:?}");
    }
}

#[tokio::test]
async fn what_is_not_there_is_refused_in_the_protocols_words() {
    for eras in ERAS {
        let mut scene = Scene::new(eras);
        scene.plain = true;
        let stage = scene.open().await;
        let read = stage.client.read_resource(ReadResourceRequestParams::new("test://none")).await;
        let code = if eras.0 == Era::New { "-32602" } else { "-32002" };
        let refused = read.unwrap_err().to_string();
        assert!(refused.contains(code), "{eras:?}: {refused}");
        let prompt = stage.client.get_prompt(GetPromptRequestParams::new("none")).await;
        assert!(prompt.unwrap_err().to_string().contains("-32602"), "{eras:?}");
    }
}

#[tokio::test]
async fn prompts_have_names_like_tools_and_keep_their_pictures() {
    for eras in ERAS {
        let stage = Scene::new(eras).open().await;
        let prompts = stage.client.list_all_prompts().await.unwrap();
        assert!(prompts.iter().all(|it| it.name.starts_with("mcp_fixture_test_")), "{eras:?}");
        let params = GetPromptRequestParams::new("mcp_fixture_test_prompt_with_image");
        let prompt = stage.client.get_prompt(params).await.unwrap();
        let said = serde_json::to_value(&prompt.messages).unwrap();
        assert_eq!(said[0]["content"]["mimeType"], "image/png", "{eras:?}: {said}");
        assert_eq!(said[1]["content"]["text"], "Please analyze the image above.", "{eras:?}");
    }
}

#[tokio::test]
async fn arguments_are_completed_by_the_server() {
    for eras in ERAS {
        let stage = Scene::new(eras).open().await;
        stage.client.list_all_prompts().await.unwrap();
        let name = "mcp_fixture_test_prompt_with_arguments";
        let values = stage.client.complete_prompt_simple(name, "arg1", "test").await.unwrap();
        assert_eq!(values, ["testing"], "{eras:?}");
    }
}

#[tokio::test]
async fn a_wrapped_server_keeps_its_names() {
    for eras in ERAS {
        let mut scene = Scene::new(eras);
        scene.plain = true;
        let stage = scene.open().await;
        let tools = stage.client.list_all_tools().await.unwrap();
        let simple = tools.iter().find(|it| it.name == "test_simple_text").unwrap();
        assert_eq!(simple.title.as_deref(), Some("A simple text"));
        assert!(tools.iter().all(|it| it.name != "approve" && !it.name.starts_with("mcp")));
        let said = stage.call("test_simple_text", json!({})).await;
        assert_eq!(text(&said), "This is a simple text response for testing.");
        let prompt = GetPromptRequestParams::new("test_simple_prompt");
        assert!(stage.client.get_prompt(prompt).await.is_ok(), "{eras:?}");
        // Rules and the record know it by the name that no other server's tool can have.
        let records = format!("{:?}", stage.log.records());
        assert!(records.contains("mcp_fixture_test_simple_text"), "{records}");
    }
}

#[tokio::test]
async fn a_rule_that_denies_a_server_denies_its_resources_and_prompts() {
    let mut scene = Scene::new((Era::New, Era::New));
    scene.rules = vec![Rule::new(Decision::Deny).server(["fixture"]).unwrap()];
    let stage = scene.open().await;
    let read = ReadResourceRequestParams::new("test://static-text");
    let refused = stage.client.read_resource(read).await.unwrap_err().to_string();
    assert!(refused.contains("denie"), "{refused}");
    let name = "mcp_fixture_test_prompt_with_arguments";
    assert!(stage.client.complete_prompt_simple(name, "arg1", "test").await.is_err());
}

#[tokio::test]
async fn reading_asks_a_person_where_no_rule_says_otherwise() {
    for eras in ERAS {
        let mut scene = Scene::new(eras);
        (scene.rules, scene.asks) = (Vec::new(), true);
        let stage = scene.open().await;
        let read = ReadResourceRequestParams::new("test://static-text");
        assert!(stage.client.read_resource(read).await.is_ok(), "{eras:?}");
        let asked = stage.person.said().join("\n");
        assert!(asked.contains("mcp.fixture.read_resource"), "{eras:?}: {asked}");
        assert!(asked.contains("test://static-text"), "{eras:?}: {asked}");
    }
}

#[tokio::test]
async fn two_servers_do_not_get_in_each_others_way() {
    let mut scene = Scene::new((Era::New, Era::New));
    (scene.second, scene.settings.deferred) = (Some("other"), Some(false));
    let stage = scene.open().await;
    let tools = stage.client.list_all_tools().await.unwrap();
    let prompts = stage.client.list_all_prompts().await.unwrap();
    for name in ["mcp_fixture_test_simple_text", "mcp_other_test_simple_text"] {
        assert!(tools.iter().any(|it| it.name == name), "{name}");
    }
    for name in ["mcp_fixture_test_simple_prompt", "mcp_other_test_simple_prompt"] {
        assert!(prompts.iter().any(|it| it.name == name), "{name}");
    }
    // One address is one server's, and somebody is told.
    let resources = stage.client.list_all_resources().await.unwrap();
    let texts = resources.iter().filter(|it| it.uri == "test://static-text");
    assert_eq!(texts.count(), 1);
    let conditions = stage.gateway.conditions();
    assert_eq!(conditions[0].remarks, Vec::<String>::new());
    let told = conditions[1].remarks.join("\n");
    assert!(told.contains("`test://static-text` belongs to another server"), "{told}");
    // The rule is about the first server alone, which is the one that is read.
    let read = ReadResourceRequestParams::new("test://static-text");
    assert!(stage.client.read_resource(read).await.is_ok());
}
