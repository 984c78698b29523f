//! What a request must be before anything of it is looked at.

use axum::http::{HeaderMap, Method, StatusCode, header};

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestRefusal {
    pub status: StatusCode,
    pub why: &'static str,
}

/// Refuses requests to other names than ours, and writes from other pages.
///
/// A name of a foreign site can be made to lead here (DNS rebinding); the browser then believes that this server is that
/// site. So every request, also one that only reads, must name the loopback interface itself.
pub fn check(method: &Method, headers: &HeaderMap, port: u16) -> Result<(), RequestRefusal> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    let hosts = [format!("127.0.0.1:{port}"), format!("localhost:{port}"), format!("[::1]:{port}")];
    let host = text(header::HOST).unwrap_or_default();
    if headers.get_all(header::HOST).iter().count() != 1 || !hosts.iter().any(|known| known == host) {
        let why = "this server answers only to 127.0.0.1 and localhost";
        return Err(RequestRefusal { status: StatusCode::MISDIRECTED_REQUEST, why });
    }
    match *method {
        Method::GET | Method::HEAD => Ok(()),
        Method::POST => {
            if text(header::ORIGIN) != Some(format!("http://{host}").as_str()) {
                let why = "only a window of this page may answer";
                return Err(RequestRefusal { status: StatusCode::FORBIDDEN, why });
            }
            if text(header::CONTENT_TYPE) != Some("application/json") {
                return Err(RequestRefusal {
                    status: StatusCode::UNSUPPORTED_MEDIA_TYPE,
                    why: "an answer is sent as application/json",
                });
            }
            Ok(())
        }
        _ => Err(RequestRefusal {
            status: StatusCode::METHOD_NOT_ALLOWED,
            why: "only GET and POST are known here",
        }),
    }
}

#[cfg(test)]
#[allow(clippy::expect_used)]
mod tests {
    use super::*;

    fn status(method: &Method, pairs: &[(header::HeaderName, &str)]) -> u16 {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(name, value.parse().expect("a value"));
        }
        check(method, &headers, 80).err().map_or(200, |refusal| refusal.status.as_u16())
    }

    // BY-11
    #[test]
    fn only_requests_to_the_loopback_interface_by_its_own_name_pass() {
        for host in ["127.0.0.1:80", "localhost:80", "[::1]:80"] {
            assert_eq!(status(&Method::GET, &[(header::HOST, host)]), 200, "{host}");
        }
        for host in ["evil.test:80", "127.0.0.1:81", "127.0.0.1", "localhost.evil.test:80", ""] {
            assert_eq!(status(&Method::GET, &[(header::HOST, host)]), 421, "{host}");
        }
        assert_eq!(status(&Method::GET, &[]), 421);
        let two = [(header::HOST, "127.0.0.1:80"), (header::HOST, "127.0.0.1:80")];
        assert_eq!(status(&Method::GET, &two), 421);
    }

    // BY-11
    #[test]
    fn only_a_window_of_the_page_may_write() {
        let host = (header::HOST, "127.0.0.1:80");
        let ours = (header::ORIGIN, "http://127.0.0.1:80");
        let json = (header::CONTENT_TYPE, "application/json");
        assert_eq!(status(&Method::POST, &[host.clone(), ours.clone(), json.clone()]), 200);
        assert_eq!(status(&Method::POST, &[host.clone(), json.clone()]), 403);
        for origin in ["null", "http://evil.test", "http://localhost:80", "https://127.0.0.1:80"] {
            let sent = [host.clone(), (header::ORIGIN, origin), json.clone()];
            assert_eq!(status(&Method::POST, &sent), 403, "{origin}");
        }
        let form = (header::CONTENT_TYPE, "text/plain");
        assert_eq!(status(&Method::POST, &[host.clone(), ours.clone(), form]), 415);
        assert_eq!(status(&Method::DELETE, &[host, ours, json]), 405);
    }
}
