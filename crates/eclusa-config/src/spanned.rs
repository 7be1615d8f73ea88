//! Values as written: where they stand, and the words they are chosen from.

use std::{borrow::Cow, ops::Range};

use eclusa::{
    Cut, Decision, Durability, Mode, OnNoApprover, PermissionClass, Wire,
    approve::Proof,
    audit::ArgsInLog,
    catalogue::Language,
    policy::Access,
    preflight::PreflightStep,
    settings::{NotificationKind, ServerPermission, Thinking, WorkspaceAccess},
};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de::Error as _};

/// A value and where it stands in its file.
#[derive(Debug, Clone)]
pub(super) struct Spanned<T> {
    pub(super) span: Range<usize>,
    pub(super) it: T,
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Spanned<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Spanned<T>, D::Error> {
        let spanned = toml::Spanned::<T>::deserialize(from)?;
        Ok(Spanned { span: spanned.span(), it: spanned.into_inner() })
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// Something that is written as one of a few words.
pub(super) trait KeywordSet: Copy + 'static {
    /// The words, and what they mean.
    const WORDS: &'static [(&'static str, Self)];
}

/// Enums that others write and read too, each with a table of its own.
macro_rules! tables {
    ($($type:ty),+ $(,)?) => {$(
        impl KeywordSet for $type {
            const WORDS: &'static [(&'static str, $type)] = <$type>::WORDS;
        }
    )+};
}

tables! {
    Decision, Durability, Mode, NotificationKind, PermissionClass, Proof, ServerPermission, Thinking, Wire,
    WorkspaceAccess,
}

/// One of a few words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Keyword<T>(pub(super) T);

impl<'de, T: KeywordSet> Deserialize<'de> for Keyword<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Keyword<T>, D::Error> {
        let written = Cow::<'de, str>::deserialize(from)?;
        let meant = T::WORDS.iter().find(|(word, _)| *word == written);
        meant
            .map(|(_, meant)| Keyword(*meant))
            .ok_or_else(|| D::Error::custom(format!("`{written}` is none of the words for it")))
    }
}

impl<T: KeywordSet> JsonSchema for Keyword<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Keyword".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> = T::WORDS.iter().map(|(word, _)| *word).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

/// One of something, or a list of them.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(super) enum OneOrMany<T> {
    /// One.
    One(T),
    /// Several.
    Many(Vec<T>),
}

impl<T> OneOrMany<T> {
    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            OneOrMany::One(one) => std::slice::from_ref(one),
            OneOrMany::Many(many) => many,
        }
    }
}

/// No limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NoLimit;

impl KeywordSet for NoLimit {
    const WORDS: &'static [(&'static str, NoLimit)] = &[("none", NoLimit)];
}

impl KeywordSet for OnNoApprover {
    const WORDS: &'static [(&'static str, OnNoApprover)] = &[
        ("deny", OnNoApprover::Deny),
        ("queue", OnNoApprover::Queue),
        ("allow-with-warning", OnNoApprover::AllowWithWarning),
    ];
}

impl KeywordSet for Language {
    const WORDS: &'static [(&'static str, Language)] =
        &[("en", Language::English), ("pt", Language::Portuguese), ("es", Language::Spanish)];
}

impl KeywordSet for PreflightStep {
    const WORDS: &'static [(&'static str, PreflightStep)] = &[
        ("reverse-thinking", PreflightStep::ReverseThinking),
        ("approval", PreflightStep::Approval),
        ("checkpoint", PreflightStep::Checkpoint),
    ];
}

impl KeywordSet for Cut {
    const WORDS: &'static [(&'static str, Cut)] =
        &[("head-tail", Cut::HeadTail), ("head", Cut::Head)];
}

impl KeywordSet for ArgsInLog {
    const WORDS: &'static [(&'static str, ArgsInLog)] = &[
        ("digest", ArgsInLog::Digest),
        ("redacted", ArgsInLog::Redacted),
        ("full", ArgsInLog::Full),
    ];
}

/// What a rule says: a decision, or a remark that decides nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RuleDecision {
    Decides(Decision),
    Warns,
}

impl KeywordSet for RuleDecision {
    const WORDS: &'static [(&'static str, RuleDecision)] = &[
        ("allow", RuleDecision::Decides(Decision::Allow)),
        ("warn", RuleDecision::Warns),
        ("stage", RuleDecision::Decides(Decision::Stage)),
        ("ask", RuleDecision::Decides(Decision::Ask)),
        ("deny", RuleDecision::Decides(Decision::Deny)),
    ];
}

impl KeywordSet for Access {
    const WORDS: &'static [(&'static str, Access)] =
        &[("read", Access::Read), ("write", Access::Write)];
}

/// What a reviewer that fails amounts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OnError {
    Deny,
    Allow,
}

impl KeywordSet for OnError {
    const WORDS: &'static [(&'static str, OnError)] =
        &[("deny", OnError::Deny), ("allow", OnError::Allow)];
}
