//! Chooses how to sign in an agent: with an offered method whose environment variables are set.

use serde_json::Value;

/// The id of the first method whose variables are all set. Methods that need a person, such as a browser login, have no
/// variables and are skipped.
pub fn sign_in_method(methods: &Value, is_set: impl Fn(&str) -> bool) -> Option<String> {
    let is_usable = |method: &&Value| {
        let variables = method["vars"].as_array().map_or(&[][..], Vec::as_slice);
        let is_available =
            |variable: &Value| variable["optional"] == true || variable["name"].as_str().is_some_and(&is_set);
        !variables.is_empty() && variables.iter().all(is_available)
    };
    let method = methods.as_array()?.iter().find(is_usable)?;
    method["id"].as_str().map(str::to_string)
}

/// Whether an environment variable has a value.
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // CORE-10
    #[test]
    fn the_method_is_chosen_by_the_variables_that_are_set() {
        let methods = json!([
            {"id": "browser", "name": "Log in"},
            {"id": "first", "type": "env_var", "vars": [{"name": "FIRST"}]},
            {"id": "second", "type": "env_var", "vars": [{"name": "SECOND"}, {"name": "MORE", "optional": true}]},
        ]);
        let method = |set: &str| sign_in_method(&methods, |name| name == set);
        assert_eq!(method("FIRST").as_deref(), Some("first"));
        assert_eq!(method("SECOND").as_deref(), Some("second"));
        assert_eq!(method("MORE"), None);
        assert_eq!(sign_in_method(&json!(null), |_| true), None);
    }
}
