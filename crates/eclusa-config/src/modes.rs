//! `[[modes]]`: another mode for some clients or conversations.

use eclusa::{Mode, ModeRule, policy::Names};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Config, Trust,
    error::Problem,
    source::LayerReader,
    spanned::{Keyword, OneOrMany, Spanned},
    tighten::granted,
};

/// A mode for some clients or conversations. Where several are about one, the most careful holds.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(inline)]
pub(super) struct WrittenMode {
    /// When people are asked there.
    pub(super) mode: Keyword<Mode>,
    /// Clients, by the name and version that they give themselves: a name, a glob or several.
    pub(super) client: Option<Spanned<OneOrMany<String>>>,
    /// Conversations: a name, a glob or several.
    pub(super) conversation: Option<Spanned<OneOrMany<String>>>,
}

/// Adds the modes of a file.
pub(super) fn merge(
    source: &mut LayerReader<'_>,
    below: &mut Config,
    file: &[Spanned<WrittenMode>],
) {
    for Spanned { span, it } in file {
        if !granted(source, span, "a mode for clients or conversations") {
            continue;
        }
        if it.client.is_none() && it.conversation.is_none() {
            let text = "say which `client` or `conversation` it is for";
            source.wrong(Problem::new(span, text).help("`mode` alone is for all"));
            continue;
        }
        let mut names = |written: &Option<Spanned<OneOrMany<String>>>| match written {
            None => Some(None),
            Some(it) => source.keep(&it.span, Names::new(it.it.as_slice())).map(Some),
        };
        let (client, conversation) = (names(&it.client), names(&it.conversation));
        if let (Some(client), Some(conversation)) = (client, conversation) {
            let rule = ModeRule { mode: it.mode.0, client, session: conversation };
            if source.trust == Trust::Administrator {
                below.firm_modes.push(rule.clone());
            }
            below.modes.push(rule);
        }
    }
}
