//! The approval queue for tests that are not asynchronous.

use eclusa::{
    Answer,
    approve::{GivenAnswer, QuestionPage, Questions, QueueError, QueuedQuestion},
};
use eclusa_store::SqliteQueue;
use futures::executor::block_on;

/// What [`Questions`] does, waited for here.
pub(crate) trait Blocking {
    fn list(&self) -> Result<Vec<QueuedQuestion>, QueueError>;
    fn page(&self, page: QuestionPage) -> Result<Vec<QueuedQuestion>, QueueError>;
    fn get(&self, id: u64) -> Result<QueuedQuestion, QueueError>;
    fn identical_to(&self, id: u64) -> Result<Vec<u64>, QueueError>;
    fn answer(&self, id: u64, answer: Answer, by: &str) -> Result<(), QueueError>;
    fn answer_all(&self, given: GivenAnswer) -> Result<(), QueueError>;
    fn revoke(&self, id: u64, by: &str) -> Result<(), QueueError>;
}

impl Blocking for SqliteQueue {
    fn list(&self) -> Result<Vec<QueuedQuestion>, QueueError> {
        self.page(QuestionPage::FIRST)
    }

    fn page(&self, page: QuestionPage) -> Result<Vec<QueuedQuestion>, QueueError> {
        block_on(Questions::list(self, page))
    }

    fn get(&self, id: u64) -> Result<QueuedQuestion, QueueError> {
        block_on(Questions::get(self, id))
    }

    fn identical_to(&self, id: u64) -> Result<Vec<u64>, QueueError> {
        block_on(Questions::identical(self, id))
    }

    fn answer(&self, id: u64, answer: Answer, by: &str) -> Result<(), QueueError> {
        self.answer_all(GivenAnswer::new(vec![id], answer, by))
    }

    fn answer_all(&self, given: GivenAnswer) -> Result<(), QueueError> {
        block_on(Questions::answer(self, given))
    }

    fn revoke(&self, id: u64, by: &str) -> Result<(), QueueError> {
        block_on(Questions::revoke(self, id, by))
    }
}
