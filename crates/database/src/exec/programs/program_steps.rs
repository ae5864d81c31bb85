//! Drives a [`Program`] in a transaction of a database.

use crate::frontend::program::{Answers, BoundStatement, Program, Shown, Step};
use weir_engine::source::FieldError;

/// A transaction of a driver in which a program runs. A driver that waits for nothing gives futures that are ready.
pub(crate) trait ProgramTransaction {
    type Error;

    /// An error of the program itself.
    fn program_error(&self, error: FieldError) -> Self::Error;

    /// Runs [`Step::Find`].
    fn find(&mut self, program: &mut dyn Program) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Runs [`Step::Check`].
    fn check(
        &mut self,
        program: &mut dyn Program,
        number: u32,
        ids: &[i64],
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Runs [`Step::Ask`].
    fn ask(
        &mut self,
        asked: &[BoundStatement],
        answers: &mut Answers,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Runs [`Step::Execute`]; the statements may wait for the next step that is answered.
    fn execute_statements(
        &mut self,
        asked: &[BoundStatement],
    ) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Runs [`Step::Answer`].
    fn answer(&mut self, shown: Shown) -> Result<(), Self::Error>;
}

/// Runs `program` to its last step. After an error the transaction is to be rolled back.
pub(crate) async fn run_steps<T: ProgramTransaction>(
    transaction: &mut T,
    program: &mut dyn Program,
) -> Result<(), T::Error> {
    let mut answers = Answers::default();
    let mut asked = Vec::new();
    loop {
        asked.clear();
        let step = program.next(&answers, &mut asked).map_err(|error| transaction.program_error(error))?;
        answers.clear();
        match step {
            Step::Find => transaction.find(program).await?,
            Step::Check { number, ids } => transaction.check(program, number, &ids).await?,
            Step::Ask => transaction.ask(&asked, &mut answers).await?,
            Step::Execute => transaction.execute_statements(&asked).await?,
            Step::Answer(shown) => transaction.answer(shown)?,
            Step::Done => return Ok(()),
        }
    }
}
