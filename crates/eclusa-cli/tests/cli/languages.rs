//! The language of the person: questions, refusals and undo are in it; what a model or a program reads
//! is English.

use serde_json::json;

use crate::{
    prompt::Person,
    world::{World, run},
};

const NOTE: [&str; 3] = ["run", "note", r#"{"text": "hello"}"#];

/// Runs the binary without a terminal, in this locale.
fn in_locale(world: &World, locale: &str, args: &[&str], input: &str) -> crate::world::Ran {
    let mut command = world.command(args);
    command.env("LANG", locale);
    run(command, input)
}

/// Asks, refuses and undoes in a locale; what each of them must say is given.
fn speaks(locale: &str, yes: &str, said: [&str; 4]) {
    let [question, applied, refused, undone] = said;
    let world = World::new();
    let mut command = world.command(&NOTE);
    command.env("LANG", locale).env("NO_COLOR", "1");
    let mut person = Person::starts(command);
    person.sees(question);
    person.types(yes);
    let (code, seen) = person.ends();
    assert!(code == 0 && seen.contains(applied), "{seen}");
    assert_eq!(world.read("workspace/notes.txt"), "hello\n");

    let ran = in_locale(&world, locale, &["undo"], "");
    assert!(ran.code == 0 && ran.out.starts_with(undone), "{ran:?}");
    assert!(ran.out.contains("\n  notes.txt\n"), "{ran:?}");
    assert_eq!(world.read("workspace/notes.txt"), "");

    let world = World::with("[[rules]]\ndecision = \"deny\"\ntool = \"time\"\n");
    let ran = in_locale(&world, locale, &["run", "time"], "");
    assert!(ran.code == 3 && ran.err.starts_with(refused), "{ran:?}");
    assert!(ran.err.contains("denied by policy"), "the details follow: {ran:?}");
}

#[test]
fn a_person_is_spoken_to_in_portuguese() {
    speaks(
        "pt_BR.UTF-8",
        "sim",
        [
            "Aplicar estas alterações? [",
            "alterações aplicadas (chamada 1)",
            "recusada: comando bloqueado por uma regra; nada foi executado\n",
            "desfeito: chamada 1\n",
        ],
    );
}

#[test]
fn a_person_is_spoken_to_in_spanish() {
    speaks(
        "es_ES.UTF-8",
        "sí",
        [
            "¿Aplicar estos cambios? [",
            "cambios aplicados (llamada 1)",
            "rechazada: rechazada por una regla; no se ejecutó nada\n",
            "deshecho: llamada 1\n",
        ],
    );
}

#[test]
fn the_configuration_comes_before_the_environment() {
    let rule = "[[rules]]\ndecision = \"deny\"\ntool = \"time\"\n";
    let refused = |language: &str, locale: &str| {
        let world = World::with(&format!("{language}{rule}"));
        in_locale(&world, locale, &["run", "time"], "").err
    };
    assert!(refused("language = \"es\"\n", "pt_BR.UTF-8").starts_with("rechazada: "));
    assert!(refused("language = \"en\"\n", "pt_BR.UTF-8").starts_with("refused: denied"));
    for locale in ["C", "POSIX", "en_GB.UTF-8", "de_DE.UTF-8", ""] {
        assert!(refused("", locale).starts_with("refused: denied by policy"), "{locale}");
    }
}

#[test]
fn what_models_and_programs_read_is_english() {
    let rule =
        "[[rules]]\ndecision = \"deny\"\ntool = [\"time\", \"bash\"]\nreason = \"no clocks\"\n";
    let both = |args: &[&str], input: &str| {
        let said = ["C", "pt_BR.UTF-8"].map(|locale| {
            let world = World::with(rule);
            let ran = in_locale(&world, locale, args, input);
            (ran.code, world.plain(&ran.out))
        });
        let [english, other] = said;
        assert!(english.1.contains("no clocks"), "{english:?}");
        assert!(other.1.contains("no clocks"), "{other:?}");
        for word in ["recusada", "bloqueado", "executado"] {
            assert!(!other.1.contains(word), "{other:?}");
        }
        assert_eq!(english.0, other.0);
    };
    both(&["--json", "run", "time"], "");
    let hook = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": ".",
        "tool_name": "Bash", "tool_input": {"command": "date"},
    });
    both(&["hook", "claude-code"], &hook.to_string());
    let mcp = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"},
        }}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "time", "arguments": {}}}),
    ];
    both(&["mcp"], &mcp.map(|it| format!("{it}\n")).concat());
}
