//! Signs the in-toto statement about a judged change with the key of the repository.

use crate::workplace::Workplace;
use remand_engine::sealed;
use remand_reports::{ChangeReport, ReportForm, envelope, pre_authentication};
use remand_terminal::CommandFailure;

/// The signed envelope of the statement, ending with a line break.
pub fn sign(workplace: &Workplace, report: &ChangeReport) -> Result<String, CommandFailure> {
    let payload = ReportForm::InToto.render(report).trim_end().to_string();
    let signed = sealed::sign(&workplace.home.signing_key(), &pre_authentication(payload.as_bytes()))
        .map_err(|error| CommandFailure::user(error.to_string(), error.hint()))?;
    let value =
        envelope(&sealed::base64(payload.as_bytes()), &signed.key, &sealed::base64(&signed.signature));
    Ok(format!("{value:#}\n"))
}
