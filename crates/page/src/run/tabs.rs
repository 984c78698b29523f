//! The views of a run: the last part of the address, and the name.

pub const TABS: [(&str, &str); 9] = [
    ("", "Overview"),
    ("timeline", "Timeline"),
    ("rulings", "Rulings"),
    ("findings", "Findings"),
    ("evidence", "Evidence"),
    ("artifacts", "Artifacts"),
    ("changes", "Changes"),
    ("agents", "Agents"),
    ("costs", "Costs"),
];
