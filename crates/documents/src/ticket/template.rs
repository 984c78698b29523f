//! A new ticket.

use super::TicketStatus;

/// The text of a new ticket, with every section that the engine reads.
pub fn template(id: &str, title: &str, date: &str) -> String {
    let statuses: String = TicketStatus::ALL
        .into_iter()
        .map(|status| {
            let mark = if status == TicketStatus::Draft { 'x' } else { ' ' };
            format!("- [{mark}] {}\n", status.name())
        })
        .collect();
    format!(
        "# {id}: {title}\n\n\
         ## Status\n\n{statuses}\n\
         ## Metadata\n\n\
         - **Created**: {date}\n\
         - **Requires Prototype**: No\n\
         - **Design Revision Count**: 0\n\
         - **Previous Design Approaches**: []\n\n\
         ## Summary\n\nWhat is wanted, and for whom.\n\n\
         ## Requirements\n\n1. What must hold when this is done.\n\n\
         ## Acceptance Criteria\n\n- How somebody sees that it holds.\n\n\
         ## Workflow Log\n\n### Design Phase\n\n### Implementation Phase\n\n\
         ## Human Feedback\n\n### Feedback on Design\n\n### Feedback on Prototype\n\n### Feedback on Implementation\n"
    )
}
