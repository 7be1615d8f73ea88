//! From a model's wire to the gate, and from the gate back to the wire.
//!
//! Each module reads one way in which models ask for tools: [`fenced`] reads `tool` blocks in
//! streamed text, the others read the native calls of one model API, whole or in fragments.
//! All of them give [`Incoming`](crate::Incoming)s: what could not be read goes to the gate as a
//! [`Malformed`](crate::Malformed), so that it is answered and on record like any other call.
//! Of a stream they are [`StreamedCall`]s, which also say what the model is told that it wrote.
//! Each module also writes answers back in the shape that the same model expects, under the id that
//! the model gave: [`Reply`](crate::Reply)s, or [`ToolAnswer`]s that were kept.

mod answer;
pub mod anthropic;
mod by_wire;
mod fence;
pub mod fenced;
mod fragments;
pub mod gemini;
mod ids;
mod native;
pub mod openai_chat;
pub mod openai_responses;
mod streamed;

pub use answer::ToolAnswer;
pub use ids::was_made;
pub use streamed::StreamedCall;

/// How many bytes of one call, or of all unfinished calls of one stream, are held unless the
/// caller says otherwise.
pub const CALL_BYTES: usize = 4 << 20;

#[cfg(test)]
pub(crate) mod tests;
