//! Approvers made of closures, for the many cases where a type of its own would be noise.

use std::{future::Future, marker::PhantomData};

use futures::future::BoxFuture;

use crate::{Answer, Approver, NotAsked, Question};

/// An approver made of a function of the question.
///
/// ```
/// use eclusa::prelude::*;
///
/// let careful = FnApprover::new("me", |question| match question.destructive {
///     true => Answer::No("not this way".to_owned()),
///     false => Answer::Once,
/// });
/// # let _ = careful;
/// ```
pub struct FnApprover<A> {
    name: String,
    ask: A,
}

impl<A> FnApprover<A>
where
    A: Fn(&Question) -> Answer + Send + Sync,
{
    /// Asks with a plain function.
    pub fn new(name: impl Into<String>, ask: A) -> FnApprover<A> {
        FnApprover { name: name.into(), ask }
    }
}

impl<A> Approver for FnApprover<A>
where
    A: Fn(&Question) -> Answer + Send + Sync,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin(async { Ok((self.ask)(question)) })
    }
}

/// An approver made of an asynchronous function of the question: a web page, a message, a form.
///
/// ```
/// use eclusa::prelude::*;
///
/// let page = AsyncFnApprover::new("page", |question: Question| async move {
///     match question.destructive {
///         true => Err(NotAsked::Unavailable("nobody is at the page".to_owned())),
///         false => Ok(Answer::Once),
///     }
/// });
/// assert_eq!(page.name(), "page");
/// ```
pub struct AsyncFnApprover<A, F> {
    name: String,
    ask: A,
    answer: PhantomData<fn() -> F>,
}

impl<A, F> AsyncFnApprover<A, F>
where
    A: Fn(Question) -> F + Send + Sync,
    F: Future<Output = Result<Answer, NotAsked>> + Send,
{
    /// Asks with an asynchronous function, which says too when nobody can be reached.
    pub fn new(name: impl Into<String>, ask: A) -> AsyncFnApprover<A, F> {
        AsyncFnApprover { name: name.into(), ask, answer: PhantomData }
    }
}

impl<A, F> Approver for AsyncFnApprover<A, F>
where
    A: Fn(Question) -> F + Send + Sync,
    F: Future<Output = Result<Answer, NotAsked>> + Send,
{
    fn name(&self) -> &str {
        &self.name
    }

    fn ask<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Result<Answer, NotAsked>> {
        Box::pin((self.ask)(question.clone()))
    }
}
