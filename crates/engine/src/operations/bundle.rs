//! `bundle`: writes the evidence bundle, which can be generated again from the ledger at any time.

use super::Done;
use crate::site::{Job, Trouble};

pub fn run(job: &Job) -> Result<Done, Trouble> {
    crate::bundle::write(&job.site.reader()?, &job.site.run, &job.site.folder())?;
    Ok(Done::with_signal("done"))
}
