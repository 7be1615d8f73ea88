//! Layers become a configuration: read, laid on top of each other, and checked as a whole.

use eclusa::Mode;

use crate::{
    Config, ConfigError, ConfigErrors, Layer, PreflightReach, PreflightSettings, ProjectEntries,
    Setting, Trust, error::nearest, merge, schema, shipped, source::LayerReader,
};

impl Config {
    /// The configuration that follows from the shipped defaults and these layers, lowest first,
    /// or everything that is wrong in any of them.
    pub fn load(layers: &[Layer]) -> Result<Config, ConfigErrors> {
        let config = Config::read(layers, false)?;
        Ok(Config { layers: layers.to_vec(), ..config })
    }

    /// Reads layers. Listing their settings takes as long as reading some of them, and few ask: then
    /// the shipped rules are read and tried with their examples, too.
    fn read(layers: &[Layer], lists_settings: bool) -> Result<Config, ConfigErrors> {
        let mut config = Config::built_in();
        let mut errors = Vec::new();
        let defaults = if lists_settings { Config::DEFAULTS } else { shipped::SHIPPED };
        let defaults = Layer::of_person("defaults", defaults);
        let (top, others): (Vec<&Layer>, Vec<&Layer>) =
            layers.iter().partition(|it| it.trust == Trust::Administrator);
        for (depth, layer) in [&defaults].into_iter().chain(others).chain(top).enumerate() {
            let mut source = LayerReader::new(layer);
            source.shipped = depth == 0;
            source.lists_settings = lists_settings;
            if let Some((written, settings)) = source.read(schema::shared) {
                merge::merge_layer(&mut source, &mut config, &written);
                let (mut settings, left_out) = source.taken(settings);
                if layer.trust == Trust::Project {
                    config.left_out.extend(source.not_granted());
                    config.entries.add(&settings, &left_out);
                }
                if depth == 0 {
                    let plain = settings.iter_mut().filter(|it| it.key != "rules");
                    plain.for_each(|it| it.origin = "defaults".to_owned());
                }
                merge::note(&mut config.settings, settings);
            }
            errors.extend(source.into_errors());
        }
        if layers.iter().any(|it| it.trust == Trust::Administrator) {
            // Nobody is asked less than whoever runs the machine says.
            let careful = |mode: Mode| Mode::ALL.iter().position(|it| *it == mode);
            let mode = careful(config.mode);
            config.modes.retain(|it| careful(it.mode) <= mode);
        }
        if errors.is_empty() {
            errors = check(&mut config, &layers.iter().collect::<Vec<_>>());
        }
        if errors.is_empty() { Ok(config) } else { Err(ConfigErrors(errors)) }
    }

    /// The entries of a text of this project, over the files that lie below it.
    pub fn project_entries(below: &[Layer], text: &str) -> Result<ProjectEntries, ConfigErrors> {
        let vouched = below.iter().filter(|it| it.trust != Trust::Project);
        let mut layers: Vec<Layer> = vouched.cloned().collect();
        layers.push(Layer::of_project("project", text));
        Config::read(&layers, true).map(|it| it.entries)
    }

    /// The JSON Schema of a configuration file. Files are checked against this very schema.
    pub fn schema() -> serde_json::Value {
        schema::shared().clone()
    }

    /// Every value, and where it comes from.
    pub fn settings(&self) -> Vec<Setting> {
        // They could be read once, so they can be read again.
        Config::read(&self.layers, true).map(|it| it.settings).unwrap_or_default()
    }
}

/// Tools that could never run, or that name reviewers whom nobody knows.
fn check(config: &mut Config, layers: &[&Layer]) -> Vec<ConfigError> {
    let mut errors = Vec::new();
    if let Some(PreflightSettings { reach: PreflightReach::Model(name), origin, .. }) =
        &config.reverse_thinker
        && !name.starts_with("script:")
        && !config.models.iter().any(|it| it.name == *name)
    {
        errors.push(ConfigError::at_origin(
            origin,
            layers,
            format!("the reverse thinker is the model `{name}`, and there is none"),
            "add it as `[models.NAME]`",
        ));
    }
    let names: Vec<String> = config.reviewers.iter().map(|it| it.name.clone()).collect();
    for tool in &config.tools {
        let mut wrong = |message: String, help: &str| {
            errors.push(ConfigError::at_origin(&tool.origin, layers, message, help));
        };
        if tool.facts.needs_reverse_thinking && config.reverse_thinker.is_none() {
            wrong(
                format!("`{}` needs reverse thinking, and none is configured", tool.name),
                "add `[reverse_thinker]` with a `model`, a `command` or a `url`, or leave `reverse_thinking` out",
            );
        }
        for name in &tool.reviewers {
            match config.reviewers.iter_mut().find(|it| it.name == *name) {
                Some(reviewer) => reviewer.named_by.push(tool.name.clone()),
                None => {
                    let near = nearest(name, names.iter().map(String::as_str));
                    let near = near.map(|it| format!("did you mean `{it}`?"));
                    wrong(
                        format!("`{}` names the reviewer `{name}`, and there is none", tool.name),
                        near.as_deref().unwrap_or("add it to `[[reviewers]]`"),
                    );
                }
            }
        }
    }
    errors
}
