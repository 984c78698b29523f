//! Prints the slug of its arguments.

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    println!("{}", address(&words));
}

fn address(words: &[String]) -> String {
    format!("/{}", text::slug(&words.join(" ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_starts_with_a_slash() {
        assert_eq!(address(&["Two".to_string(), "words".to_string()]), "/two-words");
    }
}
