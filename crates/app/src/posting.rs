//! Sends a body to an address on the web, and tries again if that may help.

use remand_engine::config::host_of;
use std::time::Duration;

/// How long one try may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// The pauses between two tries.
const BACKOFF: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(2), Duration::from_secs(8)];

/// How much of an answer is read.
const ANSWER: u64 = 64 * 1024;

/// A request to make.
#[derive(Clone, Debug)]
pub struct Posting<'p> {
    pub address: &'p str,
    pub headers: Vec<(String, String)>,
    pub body: &'p [u8],
}

/// Why nothing was delivered. It names the host only, since the rest of an address can be a secret.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{host}: {why}")]
pub struct PostError {
    host: String,
    why: String,
    is_final: bool,
}

impl Posting<'_> {
    /// Posts, with pauses between the tries. Returns the body of the answer.
    pub fn send(&self) -> Result<Vec<u8>, PostError> {
        let mut pauses = BACKOFF.into_iter();
        loop {
            match self.try_once() {
                Err(error) if !error.is_final => match pauses.next() {
                    Some(pause) => std::thread::sleep(pause),
                    None => return Err(error),
                },
                done => return done,
            }
        }
    }

    /// Posts once.
    pub fn try_once(&self) -> Result<Vec<u8>, PostError> {
        let error = |why: String, is_final| PostError { host: host_of(self.address), why, is_final };
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(TIMEOUT))
            .http_status_as_error(false)
            // A redirect could take the body to a host that the user did not name.
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("remand/", env!("CARGO_PKG_VERSION")))
            .build();
        let mut request = ureq::Agent::new_with_config(config).post(self.address);
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let mut answer = request.send(self.body).map_err(|problem| {
            let is_final = matches!(
                problem,
                ureq::Error::BadUri(_)
                    | ureq::Error::Http(_)
                    | ureq::Error::InvalidProxyUrl
                    | ureq::Error::Tls(_)
            );
            match problem {
                // The message repeats the address.
                ureq::Error::BadUri(_) => error("this is not an address".to_string(), is_final),
                other => error(other.to_string(), is_final),
            }
        })?;
        let status = answer.status().as_u16();
        let read = answer.body_mut().with_config().limit(ANSWER).read_to_vec();
        match status {
            200..300 => Ok(read.unwrap_or_default()),
            // Asked to come back later, or broken for the moment.
            408 | 425 | 429 | 500.. => Err(error(format!("answered with status {status}"), false)),
            _ => Err(error(format!("answered with status {status}"), true)),
        }
    }
}
