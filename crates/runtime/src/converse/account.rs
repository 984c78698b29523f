//! How an agent is signed in that asks for it: by a method it offers, for which the environment has what it takes.

use serde_json::Value;

/// The first method whose variables are all there. One that asks for a person, such as by a browser, has none.
pub fn way_in(methods: &Value, is_set: impl Fn(&str) -> bool) -> Option<String> {
    let fits = |method: &&Value| {
        let variables = method["vars"].as_array().map_or(&[][..], Vec::as_slice);
        let is_there =
            |variable: &Value| variable["optional"] == true || variable["name"].as_str().is_some_and(&is_set);
        !variables.is_empty() && variables.iter().all(is_there)
    };
    let method = methods.as_array()?.iter().find(fits)?;
    method["id"].as_str().map(str::to_string)
}

/// Tells whether a variable of the environment has a value.
pub fn is_set(name: &str) -> bool {
    std::env::var_os(name).is_some_and(|value| !value.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    // CORE-10
    #[test]
    fn the_method_is_chosen_by_the_key_that_is_there() {
        let methods = json!([
            {"id": "browser", "name": "Log in"},
            {"id": "first", "type": "env_var", "vars": [{"name": "FIRST"}]},
            {"id": "second", "type": "env_var", "vars": [{"name": "SECOND"}, {"name": "MORE", "optional": true}]},
        ]);
        let way = |set: &str| way_in(&methods, |name| name == set);
        assert_eq!(way("FIRST").as_deref(), Some("first"));
        assert_eq!(way("SECOND").as_deref(), Some("second"));
        assert_eq!(way("MORE"), None);
        assert_eq!(way_in(&json!(null), |_| true), None);
    }
}
