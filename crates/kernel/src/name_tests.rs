use super::{Name, parse_command, parse_lane};
use crate::ids::{CommandId, Lane, PhaseId};
use alloc::string::{String, ToString};

const MAX: u16 = u16::MAX;

fn id(lane: Lane, visit: u16) -> CommandId {
    CommandId { phase: PhaseId(4), lane, visit, seat: 0, attempt: 1 }
}

#[test]
fn a_name_parses_back_to_the_id_it_was_made_from() {
    let task = |batch, index| Lane::Task { batch, index };
    for lane in [Lane::Main, task(0, 0), task(1, 2), task(10, 9), task(MAX, MAX)] {
        assert_eq!(parse_lane(Name::of_lane(lane).as_str()), Some(lane));
        for visit in [0, 1, 9, 10, 99, 100, MAX] {
            let id = id(lane, visit);
            assert_eq!(parse_command(&id.to_string()), Some(id), "{id}");
        }
    }
    let largest =
        CommandId { phase: PhaseId(MAX), lane: task(MAX, MAX), visit: MAX, seat: MAX, attempt: MAX };
    assert_eq!(parse_command(&largest.to_string()), Some(largest));
    assert_eq!(largest.to_string(), "p65535.b65535t65536.v65535.s65535.a65535");
    assert_eq!(id(task(1, 2), 2).to_string(), "p4.b1t3.v2.s0.a1");
    assert_eq!(id(Lane::Main, 2).to_string(), "p4.v2.s0.a1");
}

#[test]
fn malformed_names_are_rejected() {
    for name in [
        "",
        "p4",
        "p4.v2.s0",
        "p4.v2.s0.a1.",
        "p04.v2.s0.a1",
        "p4.v2.s0.a65536",
        "p4.b1.v2.s0.a1",
        "P4.v2.s0.a1",
    ] {
        assert_eq!(parse_command(name), None, "{name}");
    }
    for name in ["", "Main", "b1", "b1t0", "b1t65537", "b1t3 ", "t3"] {
        assert_eq!(parse_lane(name), None, "{name}");
    }
}

#[test]
fn names_in_older_journals_are_read() -> Result<(), serde_json::Error> {
    let lane: Lane = serde_json::from_str(r#"{"task":{"batch":1,"index":2}}"#)?;
    assert_eq!(lane, Lane::Task { batch: 1, index: 2 });
    let old_form = r#"{"phase":4,"lane":{"task":{"batch":1,"index":2}},"visit":2,"seat":0,"attempt":1}"#;
    let command: CommandId = serde_json::from_str(old_form)?;
    assert_eq!(command, id(lane, 2));
    assert_eq!(serde_json::to_string(&command)?, r#""p4.b1t3.v2.s0.a1""#);
    let main: CommandId =
        serde_json::from_str(r#"{"phase":4,"lane":"main","visit":2,"seat":0,"attempt":1}"#)?;
    assert_eq!(main, id(Lane::Main, 2));
    let wrong: Result<CommandId, _> = serde_json::from_str(r#""p4""#);
    let message = wrong.map_err(|error| error.to_string()).err();
    assert!(message.is_some_and(|message: String| message.contains("a command id, such as")));
    Ok(())
}
