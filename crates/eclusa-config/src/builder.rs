//! A gate from a configuration.

use std::{path::Path, sync::Arc};

use eclusa::{Gate, GateBuilder, Redactor, Run, review::ReviewCache};

use crate::Config;

impl Config {
    /// The gate that this configuration describes, over the workspace at `root`: its rules, limits,
    /// and mode. What only a program can have is added to it: tools, a log, people. `redactor` is
    /// the one of [`Config::redact`], whose files only the program can read.
    ///
    /// ```
    /// use eclusa::prelude::*;
    /// use eclusa_config::{Config, Layer};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let text = "[[rules]]\ndecision = 'allow'\ntool = 'greet'\n";
    /// let config = Config::load(&[Layer::of_person("eclusa.toml", text)])?;
    /// let redactor = config.redact.redactor(|file| std::fs::read_to_string(file))?;
    /// let gate = config
    ///     .builder("/home/ada/project".as_ref(), redactor)
    ///     .tool(FnTool::new("greet", "Greets.", |_: serde_json::Map<_, _>| async {
    ///         Ok::<_, ToolError>("Hello!".to_owned())
    ///     }))
    ///     .build()?;
    /// let reply = gate.pass_blocking(ToolCall::new("1", "greet", serde_json::json!({})))?;
    /// assert_eq!(reply.content(), "Hello!");
    /// # Ok(())
    /// # }
    /// ```
    pub fn builder(&self, root: &Path, redactor: impl Into<Arc<Redactor>>) -> GateBuilder {
        let builder = Gate::builder()
            .root(root)
            .rules(self.rules.clone())
            .effects(self.effects.clone())
            .redactor(redactor)
            .on_no_approver(self.on_no_approver)
            .order(self.order.clone())
            .limits(self.limits.clone())
            .modes(self.modes.clone())
            .args_in_log(self.args_in_log)
            .durability(self.commit_durability)
            .run(Run { mode: self.mode, ..Run::default() });
        match self.review_cache {
            Some((time, size)) => builder.review_cache(ReviewCache::new(time, size)),
            None => builder,
        }
    }
}
