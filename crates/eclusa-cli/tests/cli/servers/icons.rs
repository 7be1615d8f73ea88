//! Pictures and remarks for programs that a server gives its tools.

use serde_json::{Value, json};

use super::{YOLO, configured, entry, fails, works};
use crate::mcp::client::Client;

const PICTURE: &str = "icon=data:image/png;base64,iVBORw0KGgo=";
const ADDRESS: &str = "icon=https://cdn.example/icon.png";

fn world(icon: &str, more: &str) -> crate::world::World {
    configured(&format!("{YOLO}{}{more}", entry("fake", &[icon])))
}

fn echo(client: &mut Client) -> Value {
    super::settle(client);
    let answer = client.ask("tools/list", json!({}));
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().find(|it| it["name"] == "mcp_fake_echo").cloned().unwrap_or_default()
}

#[test]
fn pictures_pass_where_they_tell_nobody_anything() {
    for (icon, more, passes) in [
        (PICTURE, "", true),
        (ADDRESS, "", false),
        (ADDRESS, "hosts = [\"cdn.example\"]\n", true),
        ("icon=data:image/svg+xml;base64,PHN2Zz4=", "", false),
    ] {
        let world = world(icon, more);
        let tool = echo(&mut Client::modern(&world, json!({})));
        assert_eq!(tool["description"], "says it again");
        assert_eq!(tool["icons"][0]["src"].as_str(), icon.strip_prefix("icon=").filter(|_| passes));
        // What programs go by is a trusted server's to say.
        assert_eq!(tool.get("_meta"), None, "{tool}");
    }
    let world = world(PICTURE, "trusted = true\n");
    let tool = echo(&mut Client::modern(&world, json!({})));
    assert_eq!(tool["_meta"], json!({"ui": {"resourceUri": "ui://fake"}}));
}

#[test]
fn another_picture_stops_the_tool_until_a_person_has_looked() {
    let world = world(PICTURE, "");
    let mut client = Client::modern(&world, json!({}));
    assert_eq!(works(&mut client, "mcp_fake_echo", json!({"text": "a"})), "a");
    drop(client);
    let other = entry("fake", &["icon=data:image/png;base64,AAAA"]);
    world.write("config/eclusa/eclusa.toml", &format!("{YOLO}{other}"));
    let mut client = Client::modern(&world, json!({}));
    let said = fails(&mut client, "mcp_fake_echo", json!({"text": "a"}));
    assert!(said.contains("eclusa servers review fake"), "{said}");
    assert_eq!(echo(&mut client), Value::Null, "it is not listed");
}
