//! Tries a rule on a call that somebody wrote down as an example.

use std::borrow::Cow;

use serde_json::Value;

use super::{Access, Author, Root, Rule, Script, Subject, scripts, touches_and_hosts};
use crate::{PermissionClass, Touch};

/// A call as an example has it: what a rule can be about.
#[derive(Debug, Clone, Copy)]
pub struct ExampleCall<'a> {
    /// The tool's name.
    pub tool: &'a str,
    /// The tool's class.
    pub class: PermissionClass,
    /// The server that the tool comes from.
    pub server: Option<&'a str>,
    /// The arguments.
    pub args: &'a Value,
    /// What it would touch.
    pub touches: &'a [Touch],
}

impl Rule {
    /// Whether it applies to a call, at a moment at which it holds: what it is about is tried, and
    /// not for how long. `None` for shell text where the feature `shell` is off and nobody reads it.
    pub fn applies_to(&self, call: &ExampleCall<'_>) -> Option<bool> {
        let runs = call.touches.iter().any(|it| matches!(it, Touch::Run(_)));
        if cfg!(not(feature = "shell")) && runs {
            return None;
        }
        let root = Root::new(self.validity().workspace.as_deref().unwrap_or("/workspace".as_ref()));
        let moment = self.context_in_force();
        let scripts: Vec<Script> = scripts(call.touches, None);
        let mut paths = root.paths(call.touches);
        scripts.iter().for_each(|it| it.paths(&root, &mut paths));
        let touches = touches_and_hosts(call.touches, &scripts);
        let subject = Subject {
            author: Author {
                name: call.tool,
                aliases: &[],
                class: call.class,
                server: call.server,
                args: call.args,
                touches: call.touches,
                call: None,
            },
            paths: &paths,
            touches: &touches,
            root: &root,
            moment: &moment,
            changed: false,
        };
        Some(match self.is_about_commands() {
            // Each command is looked at on its own, as it is when a call is judged.
            true => scripts.iter().any(|it| it.fits(self, &subject)),
            false => self.applies(&subject),
        })
    }
}

impl Root {
    /// The paths in the workspace among some touches.
    fn paths<'a>(&self, touches: &'a [Touch]) -> Vec<(Access, Cow<'a, str>)> {
        let path = |touch: &'a Touch| match touch {
            Touch::Read(path) => Some((Access::Read, self.inside(path)?)),
            Touch::Write(path) => Some((Access::Write, self.inside(path)?)),
            Touch::Run(_) | Touch::Fetch(_) | Touch::Unknown | Touch::Unheld(_) => None,
        };
        touches.iter().filter_map(path).collect()
    }
}
