#![allow(clippy::expect_used, clippy::unwrap_used, clippy::panic)]

use super::shapes::COUNT;
use super::*;

fn redactor_for(environment: &[(&str, &str)]) -> Redactor {
    redactor_with(environment, &RedactionRules::default())
}

fn redactor_with(environment: &[(&str, &str)], rules: &RedactionRules) -> Redactor {
    let owned = environment.iter().map(|(name, value)| ((*name).to_string(), (*value).to_string()));
    Redactor::new(owned, rules).expect("usable rules")
}

#[test]
fn every_known_shape_compiles() {
    assert_eq!(known_shapes().len(), COUNT);
}

// EP-30
#[test]
fn the_value_of_a_secret_variable_is_replaced_by_its_name() {
    let redactor = redactor_for(&[
        ("DEPLOY_TOKEN", "correct horse battery"),
        ("PATH", "/usr/bin:/bin"),
        ("DB_PASSWORD", "short"),
    ]);
    assert_eq!(redactor.redact("x correct horse battery y"), "x [secret: DEPLOY_TOKEN] y");
    assert_eq!(redactor.redact("/usr/bin:/bin short"), "/usr/bin:/bin short");
    let rules = RedactionRules { secret_variables: vec!["CODENAME".into()], patterns: Vec::new() };
    let redactor = redactor_with(&[("CODENAME", "bluebird")], &rules);
    assert_eq!(redactor.redact("project bluebird"), "project [secret: CODENAME]");
}

// EP-30
#[test]
fn overlapping_secrets_are_removed_completely() {
    let redactor = redactor_for(&[("A_TOKEN", "abcdefgh12"), ("B_TOKEN", "gh12ijkl34")]);
    assert_eq!(redactor.redact("<abcdefgh12ijkl34>"), "<[secret: A_TOKEN]>");
}

// EP-30
#[test]
fn variables_that_only_mention_a_secret_are_not_redacted() {
    let key = tempfile::NamedTempFile::new().unwrap();
    let harmless = [
        ("SSH_AUTH_SOCK", "/tmp/ssh-abc/agent.1"),
        ("MAX_TOKENS", "100000000"),
        ("TOKEN_LIMIT", "100000000"),
        ("KEYBOARD_LAYOUT", "de-latin1-nodeadkeys"),
        ("MONKEY", "business as usual"),
        ("GOOGLE_APPLICATION_CREDENTIALS", key.path().to_str().unwrap()),
        ("SSH_KEY_PATH", "elsewhere/id_ed25519"),
        ("PWD", "/home/me/work"),
    ];
    let redactor = redactor_for(&harmless);
    for (_, value) in harmless {
        assert_eq!(redactor.redact(value), value);
    }
    assert_eq!(
        redactor_for(&[("API_SECRET", "/no/such/file+A1")]).redact("/no/such/file+A1"),
        "[secret: API_SECRET]"
    );
    for name in [
        "API_KEY",
        "api-key",
        "GITHUB_PAT",
        "NPM_CONFIG__AUTHTOKEN",
        "PGPASSWORD",
        "CLIENT_SECRET",
        "AWS_CREDENTIALS",
        "GH_TOKEN",
    ] {
        assert_eq!(
            redactor_for(&[(name, "some long value")]).redact("some long value"),
            format!("[secret: {name}]")
        );
    }
}

// EP-30
#[test]
fn a_value_is_found_in_json_urls_base64_and_line_by_line() {
    let redactor = redactor_for(&[
        ("API_SECRET", "p@ss \"word\"\nand/more"),
        ("SIGNING_KEY", "first line of the key\nsecond line of the key"),
    ]);
    let shown = |text: &str| redactor.redact(text).into_owned();
    assert_eq!(shown(r#"{"a": "p@ss \"word\"\nand/more"}"#), r#"{"a": "[secret: API_SECRET]"}"#);
    assert_eq!(shown("?q=p%40ss%20%22word%22%0Aand%2Fmore&x"), "?q=[secret: API_SECRET]&x");
    assert!(!shown("Y29ycmVjdA== cEBzcyAid29yZCIKYW5kL21vcmU=").contains("cEBzcyAid29yZCIKYW5kL21v"));
    assert_eq!(shown("> second line of the key"), "> [secret: SIGNING_KEY]");
}

// EP-30
#[test]
fn keys_are_recognized_by_their_shape() {
    let secrets = [
        ("AWS access key", "AKIAIOSFODNN7EXAMPLE"),
        ("GitHub token", "ghp_16C7e42F292c6912E7710c838347Ae178B4a"),
        ("GitHub token", "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789"),
        ("OpenAI key", "sk-proj-Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4z"),
        ("Anthropic key", "sk-ant-api03-abcdefghijklmnopqrstuvwxyz"),
        ("Slack token", "xoxb-123456789012-AbCdEfGhIjKl"),
        ("Google key", "AIzaSyA1234567890abcdefghijklmnopqrstuv"),
        ("npm token", "npm_abcdefghijklmnopqrstuvwxyz0123456789"),
        ("PyPI token", "pypi-AgEIcHlwaS5vcmcCJDAwMDAwMDAwLTAwMDAtMDAwMC0wMDAwLTAwMDAwMDAwMDAwMA"),
        (
            "JSON web token",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        ),
        ("Stripe key", "sk_live_4eC39HqLyjWDarjtT1zdp7dc"),
    ];
    let redactor = redactor_for(&[]);
    for (name, secret) in secrets {
        assert_eq!(redactor.redact(&format!("key {secret}, and")), format!("key [secret: {name}], and"));
        assert!(!redactor.redact(&format!("TOKEN=\"{secret}\"")).contains(secret), "{secret}");
    }
    let block = "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAABG5vbmUAAAAEbm9uZQAAAAAAAAABAAAAMwAAAAtz\nc2gtZWQyNTUxOQ==\n-----END OPENSSH PRIVATE KEY-----";
    assert_eq!(redactor.redact(&format!("a\n{block}\nb")), "a\n[secret: private key]\nb");
    assert_eq!(redactor.redact(&block.replace('\n', "\\n")), "[secret: private key]");
    assert!(!redactor.redact(&block[..110]).contains("b3BlbnNz"), "a block that is cut off");
}

// EP-30
#[test]
fn passwords_in_addresses_and_assignments_are_replaced() {
    let redactor = redactor_for(&[]);
    for (text, expected) in [
        ("postgres://me:s3cr3tpw@db/x", "postgres://me:[secret: password in an address]@db/x"),
        ("password = \"hunter2hunter2\"", "password = \"[secret: password]\""),
        ("\"client_secret\": \"a8f5f167f44f4964\",", "\"client_secret\": \"[secret: password]\","),
        ("export DB_PASSWORD=s3cr3t-value\nnext", "export DB_PASSWORD=[secret: password]\nnext"),
        ("Authorization: Bearer abcdefghijklmnop123", "Authorization: Bearer [secret: authorization]"),
        (
            "//registry.npmjs.org/:_authToken=abcd1234efgh",
            "//registry.npmjs.org/:_authToken=[secret: npm token]",
        ),
    ] {
        assert_eq!(redactor.redact(text), expected);
        assert_eq!(redactor.redact(expected), expected, "redacting twice changes nothing");
    }
}

// EP-30
#[test]
fn ordinary_code_is_unchanged() {
    let redactor = redactor_for(&[("HOME", "/root"), ("TERM", "xterm-256color"), ("LANG", "en_US.UTF-8")]);
    for text in [
        "commit 59807616e1fa2540724bfbac14d7976d7e4a3860 (HEAD)",
        "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "id: 123e4567-e89b-12d3-a456-426614174000",
        "![i](data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==)",
        "\"integrity\": \"sha512-z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==\"",
        "let password = prompt(\"password: \")?;",
        "fn check(password: &str, secret: &'static str) -> bool",
        "password = \"your-password-here\"",
        "api_key = os.environ[\"API_KEY\"]",
        "secret: \"${DB_SECRET_2}\"",
        "password: \"changeme123\"",
        "API_KEY=$API_KEY_FROM_VAULT",
        "git clone https://github.com/me/repo.git && ssh git@github.com:me/repo.git",
        "http://localhost:8080/a:b@c",
        "<div class=\"sk-fading-circle-container-animated\">",
        "contains(\"-----BEGIN PRIVATE KEY-----\") { return Err(KeyError::Refused) }",
        "the bearer of this_is_a_long_identifier_name may pass",
        "eyJ is how a JSON web token begins",
        "let token = tokens.next_token_of_the_input_stream();",
    ] {
        assert!(matches!(redactor.redact(text), Cow::Borrowed(_)), "{}", redactor.redact(text));
    }
}

// EP-30
#[test]
fn configured_patterns_are_applied_and_errors_name_the_invalid_ones() {
    let rules = |pattern: &str| RedactionRules {
        patterns: vec![("ticket".into(), pattern.into())],
        ..RedactionRules::default()
    };
    assert_eq!(redactor_with(&[], &rules(r"T-\d{4}")).redact("see T-1234"), "see [secret: ticket]");
    assert_eq!(redactor_with(&[], &rules(r"pin=(\d+)")).redact("pin=1234"), "pin=[secret: ticket]");
    let refused = |pattern: &str| Redactor::new([], &rules(pattern)).unwrap_err().to_string();
    assert!(refused("(").starts_with("the secret pattern `ticket` is not a regular expression: "));
    assert!(refused("x*").contains("matches the empty string"));
    let short = RedactionRules { secret_variables: vec!["PIN".into()], ..RedactionRules::default() };
    let error = Redactor::new([("PIN".to_string(), "12".to_string())], &short).unwrap_err();
    assert!(
        error.to_string().contains("`PIN` has fewer than 4 characters")
            && !error.to_string().contains("\"12\"")
    );
}

// EP-30
#[test]
fn binary_content_and_documents_are_redacted() {
    let redactor = redactor_for(&[("MY_TOKEN", "abcdefgh12")]);
    assert_eq!(redactor.redact_bytes(b"\xff abcdefgh12 \xfe").as_ref(), b"\xff [secret: MY_TOKEN] \xfe");
    assert!(matches!(redactor.redact_bytes(b"plain"), Cow::Borrowed(_)));
    let mut value = serde_json::json!({"abcdefgh12": ["x abcdefgh12", 1, {"k": "abcdefgh12"}]});
    redactor.redact_value(&mut value);
    assert!(!value.to_string().contains("abcdefgh12"), "{value}");
    assert!(!format!("{redactor:?}").contains("abcdefgh12"));
}

// EP-30
#[test]
fn no_secret_survives_in_random_text() {
    let alphabet = ["a", "b", "ab", "x9", "é", "[", "secret", ": ", "\n", "\"", "A_TOKEN", "=", "/", "%"];
    let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        usize::try_from(state % below as u64).unwrap()
    };
    for _ in 0..300 {
        let mut word =
            |length: usize| (0..length).map(|_| alphabet[next(alphabet.len())]).collect::<String>();
        let secrets: Vec<String> =
            (0..3).map(|_| word(8)).filter(|word| word.trim().chars().count() >= 8).collect();
        let variables = secrets
            .iter()
            .enumerate()
            .map(|(at, value)| (format!("{}_TOKEN", ["A", "B", "C"][at]), value.clone()));
        let redactor = Redactor::new(variables, &RedactionRules::default()).unwrap();
        let mut text = word(10);
        for secret in &secrets {
            text.push_str(secret);
            text.push_str(&word(2));
            let half = secret.char_indices().nth(4).map_or(0, |(at, _)| at);
            text.push_str(&secret[..half]);
            text.push_str(secret);
        }
        let shown = redactor.redact(&text).into_owned();
        for secret in &secrets {
            assert!(!shown.contains(secret.trim()), "{secret:?} in {shown:?} of {text:?}");
        }
    }
}

// SR-17
#[test]
fn secrets_are_restored_in_unchanged_lines() {
    let redactor = redactor_for(&[("A_TOKEN", "abcdefgh12"), ("B_TOKEN", "ijklmnop34")]);
    let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", "c1D2".repeat(16));
    let github = |part: &str| format!("ghp_{}", part.repeat(9));
    let original = format!(
        "use abcdefgh12 or ijklmnop34\r\n\nkey: {}\nkey: {}\n{key}\nlast abcdefgh12",
        github("a1B2"),
        github("c3D4")
    );
    let shown = redactor.redact(&original).into_owned();
    let unchanged = |text: &str| RestoredText { text: text.to_string(), missing: Vec::new() };
    assert_eq!(redactor.put_back(&original, &shown), unchanged(&original));
    let longer = format!("New.\n{shown}\nlast [secret: A_TOKEN]\n");
    assert_eq!(redactor.put_back(&original, &longer).text, format!("New.\n{original}\nlast abcdefgh12\n"));
    // The remaining line could be either of the two keys.
    let shorter = shown.replacen("key: [secret: GitHub token]\n", "", 1);
    let restored = redactor.put_back(&original, &shorter);
    assert_eq!(restored.missing, [(3, "[secret: GitHub token]".to_string())]);
    assert!(restored.text.contains(&key), "{}", restored.text);
    let changed = shown.replace("last [secret: A_TOKEN]", "at last [secret: A_TOKEN]");
    assert_eq!(redactor.put_back(&original, &changed).missing, [(8, "[secret: A_TOKEN]".to_string())]);
}
